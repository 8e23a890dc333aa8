// Package script is what a recording delegate is told to do, and what it writes down: the two JSON formats that the
// delegate and its users share. It touches nothing.
package script
