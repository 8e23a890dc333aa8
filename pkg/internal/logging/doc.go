// Package logging makes the log line and brings it where it goes: to stderr and to a log file with rotation, which is
// opened when the first line is written. Trouble with either is nobody's error.
package logging
