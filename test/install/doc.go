// Package install runs images/entrypoint.sh under each shell that an image may have, as PID 1 and against real
// directories, with inotify telling how each file came to be there.
package install
