/**
 * The database is being closed in the middle of a read, because roles change or the page goes away. Whoever asked asks
 * again, of whatever can be read next; the app never gets to see this.
 */
export class ReadInterrupted extends Error {}
