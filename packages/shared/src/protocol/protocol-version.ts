/*
 * One line per version: what changed.
 *   1  the first
 */
export const PROTOCOL_VERSION = 1;

/** The oldest version that this side still speaks. */
export const PROTOCOL_FLOOR = 1;
