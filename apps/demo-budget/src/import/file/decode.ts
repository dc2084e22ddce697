import { fail, succeed, type Result } from '../../result.ts';
import { detectEncoding, type Encoding } from './encoding.ts';
import type { FileProblem } from './problem.ts';

export interface DecodedFile {
  readonly text: string;
  readonly encoding: Encoding;
  /** Characters that the encoding cannot read; they appear as \ufffd. */
  readonly unreadableCount: number;
}

/**
 * About 200,000 rows from a bank that writes long descriptions: far more than a household has in a year, and small
 * enough to fit into a phone's memory twice.
 */
export const maxFileBytes: number = 32 * 1_048_576;

const signatures: readonly {
  readonly bytes: readonly number[];
  readonly looksLike: 'spreadsheet' | 'pdf' | 'image';
}[] = [
  { bytes: [0x50, 0x4b, 0x03, 0x04], looksLike: 'spreadsheet' }, // a ZIP: .xlsx, .ods, .numbers
  { bytes: [0xd0, 0xcf, 0x11, 0xe0], looksLike: 'spreadsheet' }, // the older .xls
  { bytes: [0x25, 0x50, 0x44, 0x46], looksLike: 'pdf' },
  { bytes: [0x89, 0x50, 0x4e, 0x47], looksLike: 'image' },
  { bytes: [0xff, 0xd8, 0xff], looksLike: 'image' },
];

/**
 * Decodes a bank's export.
 *
 * @param chosen the encoding that the user set; detected if omitted.
 */
export async function decodeFile(bytes: Uint8Array, chosen?: Encoding): Promise<Result<DecodedFile, FileProblem>> {
  if (bytes.length === 0) return fail({ code: 'file-empty' });
  if (bytes.length > maxFileBytes)
    return fail({ code: 'file-too-large', sizeBytes: bytes.length, maxBytes: maxFileBytes });
  for (const { bytes: signature, looksLike } of signatures) {
    if (startsWith(bytes, signature)) return fail({ code: 'file-not-text', looksLike });
  }
  const encoding = chosen ?? (await detectEncoding(bytes));
  // Control characters that do not occur in text show that a file is binary. Tab, line feed, form feed and carriage
  // return are text.
  if (
    !encoding.startsWith('utf-16') &&
    bytes.some(
      (byte) => byte < 0x20 && ![9, 10, 12, 13, 0x1a].includes(byte) && !(encoding === 'iso-2022-jp' && byte === 0x1b),
    )
  ) {
    return fail({ code: 'file-not-text', looksLike: 'unknown' });
  }
  const text = new TextDecoder(encoding).decode(bytes);
  const unreadableCount = text.match(/\ufffd/g)?.length ?? 0;
  if (encoding.startsWith('utf-16') && chosen === undefined && (text.includes('\0') || unreadableCount > 0))
    return fail({ code: 'file-not-text', looksLike: 'unknown' });
  if (text.trim() === '') return fail({ code: 'file-empty' });
  if (/^\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype html|html|head|body|script)\b/i.test(text))
    return fail({ code: 'file-is-web-page' });
  return succeed({ text, encoding, unreadableCount });
}

function startsWith(bytes: Uint8Array, prefix: readonly number[]): boolean {
  return prefix.every((byte, index) => bytes[index] === byte);
}
