/**
 * A value for a `?` in SQL. A number that is a safe integer is stored as INTEGER, any other number as REAL;
 * true and false as 1 and 0; bigint as INTEGER; Uint8Array as BLOB. Anything else (undefined, Date, NaN, objects) is
 * rejected with `value-invalid`.
 */
export type SqlParam = null | boolean | number | bigint | string | Uint8Array;

/** A value in a result. An INTEGER is a number if it is safe, else a bigint. */
export type SqlValue = null | number | bigint | string | Uint8Array;

/** One row of a result, by column name. Of two columns with the same name, the later wins. */
export type SqlRow = Record<string, SqlValue>;
