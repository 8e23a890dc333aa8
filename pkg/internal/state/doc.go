// Package state keeps plans and locks under cniDir; it understands the older plan format too.
//
// It touches files below the Store's directory only: plans in "plans", locks in "locks", both of mode 0700 with files
// of mode 0600, and files of Multus v3/v4 at the top. libcni's result cache beside them belongs to package delegate.
package state
