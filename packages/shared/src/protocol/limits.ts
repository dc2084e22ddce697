/*
 * Every size on which client and server agree. A client can always send what it can commit locally, because the limits
 * of a changeset apply at the local COMMIT.
 */

/** Maximum size of one WebSocket frame. Small, so that a server can reject a large one before reading it. */
export const MAX_FRAME_BYTES: number = 256 * 1024;

/** Maximum size of one reassembled message. Room for the largest changeset and its header. */
export const MAX_MESSAGE_BYTES: number = 64 * 1024 * 1024;

/**
 * Maximum number of changesets per push: far more than PUSH_BYTES can hold, far fewer than would exhaust the server's
 * memory.
 */
export const MAX_PUSH_CHANGESETS: number = 64 * 1024;

/** Maximum number of earlier site ids in a push: a file rarely has more than one while it has something to send. */
export const MAX_EARLIER_SITES = 16;

/** Maximum size of a message before the session is authenticated: a token and a few ids. */
export const MAX_HELLO_BYTES: number = 16 * 1024;

/** Maximum size of the encoded body of one changeset: the limit for one transaction. */
export const MAX_CHANGESET_BYTES: number = 48 * 1024 * 1024;

/**
 * Maximum number of rows per changeset. The server merges them in one go. Each row takes some KB of memory until it is
 * decided and delivered, in total half a gigabyte, and merging all of them takes the thread some seconds. The size in
 * bytes does not limit them: a body of 9 MB has room for a million rows.
 */
export const MAX_CHANGESET_ROWS: number = 128 * 1024;

/**
 * Maximum number of cells per changeset, keys included. The size in bytes does not limit them: a run of NULLs takes one
 * byte for any number of rows, so a body of some kilobytes could make its reader allocate gigabytes. Room for 100,000
 * rows of twenty columns.
 */
export const MAX_CHANGESET_CELLS: number = 2 * 1024 * 1024;

/** Maximum size of one text or blob. */
export const MAX_VALUE_BYTES: number = 8 * 1024 * 1024;

/** A push contains changesets up to this size in total, or a single larger one. */
export const PUSH_BYTES: number = 256 * 1024;

/**
 * Maximum size of a compressed message after decompression. Room for any push of several changesets, and small enough
 * to be decompressed in one go.
 */
export const MAX_PACKED_BYTES: number = 1024 * 1024;

/**
 * Approximate size of one message of a delivery; a longer delivery is split into parts. At 7 KB per second, a part
 * arrives before the connection counts as silent.
 */
export const DELIVERY_PART_BYTES: number = 256 * 1024;

/** The interval at which a client pings. */
export const PING_INTERVAL_MS = 15_000;

/** Silence after which a side closes the connection as dead: two lost pings and some tolerance. */
export const SILENCE_LIMIT_MS = 40_000;

/** Time limit for the hello of a new connection. */
export const HELLO_DEADLINE_MS = 10_000;

/**
 * Maximum number of presence states per site, over all tabs and topics: enough for several tabs, each with a document
 * or two open.
 */
export const MAX_PRESENCE_STATES = 32;

/** Maximum size of one presence state, as JSON: a cursor takes some 100 bytes, a name and a page a little more. */
export const MAX_PRESENCE_STATE_BYTES: number = 2 * 1024;

/** Maximum size of the topic of a presence state: a table, a key and a column. */
export const MAX_PRESENCE_TOPIC_BYTES: number = 1024;

/** Minimum interval between presence updates. Each carries the newest state; a moving cursor still looks smooth. */
export const PRESENCE_INTERVAL_MS = 100;
