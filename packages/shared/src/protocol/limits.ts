/*
 * Every size that client and server agree on, in one place. What a client can commit locally it can always send,
 * because the limits of a changeset hold at the local COMMIT.
 */

/** One WebSocket frame. Small, so that a server can refuse a large one before it has read it. */
export const MAX_FRAME_BYTES: number = 256 * 1024;

/** One message, put together from its frames. Room for the largest changeset and its header. */
export const MAX_MESSAGE_BYTES: number = 64 * 1024 * 1024;

/** The changesets of one push: far above what PUSH_BYTES holds, far below what would cost the server its memory. */
export const MAX_PUSH_CHANGESETS: number = 64 * 1024;

/** What may be sent before the session is authenticated: a token and a few ids. */
export const MAX_HELLO_BYTES: number = 16 * 1024;

/** The encoded body of one changeset: what one transaction may change. */
export const MAX_CHANGESET_BYTES: number = 48 * 1024 * 1024;

/**
 * The rows of one changeset. They are merged together, in one go: some KB of the server's memory each until they are
 * decided and told, so half a gigabyte, and some seconds of its thread. Bytes do not bound them: a body of 9 MB has
 * room for a million.
 */
export const MAX_CHANGESET_ROWS: number = 128 * 1024;

/**
 * The cells of one changeset, keys among them. Bytes do not bound them: a run of NULLs takes one byte for any number of
 * rows, so that a body of some kilobytes could ask its reader for gigabytes. Room for 100,000 rows of twenty columns.
 */
export const MAX_CHANGESET_CELLS: number = 2 * 1024 * 1024;

/** One text or blob. */
export const MAX_VALUE_BYTES: number = 8 * 1024 * 1024;

/** A push holds changesets up to this size, or a single larger one. */
export const PUSH_BYTES: number = 256 * 1024;

/**
 * A message that comes packed, unpacked. Room for any push of several changesets; little enough to be made in one go.
 */
export const MAX_PACKED_BYTES: number = 1024 * 1024;

/**
 * One message of a delivery, about; a longer delivery comes in parts. At 7 KB a second one gets through before the
 * connection counts as silent.
 */
export const DELIVERY_PART_BYTES: number = 256 * 1024;

/** Silence after which a side sends a ping. */
export const PING_INTERVAL_MS = 15_000;

/** Silence after which a side takes the connection for dead: two lost pings and some patience. */
export const SILENCE_LIMIT_MS = 40_000;

/** A new connection has this long to say hello. */
export const HELLO_DEADLINE_MS = 10_000;

/** The states of one site, over all its tabs and topics: some tabs, each with a document or two open. */
export const MAX_PRESENCE_STATES = 32;

/** One state of presence, as JSON: a cursor takes some 100 bytes, a name and a page a few more. */
export const MAX_PRESENCE_STATE_BYTES: number = 2 * 1024;

/** What a state is about: a table, a key and a column. */
export const MAX_PRESENCE_TOPIC_BYTES: number = 1024;

/**
 * A side tells what has changed in presence at most this often, and then the newest of each: a cursor that moves still
 * looks as if it did.
 */
export const PRESENCE_INTERVAL_MS = 100;
