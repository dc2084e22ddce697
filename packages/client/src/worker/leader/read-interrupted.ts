/**
 * The database closed during a read, because roles change or the page is suspended. The caller repeats the read on the
 * next readable source; the app never sees this error.
 */
export class ReadInterrupted extends Error {}
