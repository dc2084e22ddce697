/* The constants of DEFLATE (RFC 1951) that both directions use. */

/** The maximum size in bits of the code of a literal, a length or a distance. */
export const MAX_CODE_BITS = 15;

/** The literal that ends a block. */
export const END_OF_BLOCK = 256;

export const MIN_MATCH = 3;
export const MAX_MATCH = 258;
export const WINDOW_BYTES: number = 32 * 1024;

/** The order in which the stream stores the lengths of the code length codes. */
export const CODE_LENGTH_ORDER: readonly number[] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** The extra bits of each code, and the smallest value that the code stands for. */
export interface ExtraBits {
  readonly bits: readonly number[];
  readonly bases: readonly number[];
}

/** Indexed by length code − 257. */
export const LENGTHS: ExtraBits = {
  bits: [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0],
  bases: [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
  ],
};

/** Indexed by distance code. */
export const DISTANCES: ExtraBits = {
  bits: [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13],
  bases: [
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145,
    8193, 12289, 16385, 24577,
  ],
};
