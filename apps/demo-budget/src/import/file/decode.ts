import { fail, succeed, type Result } from '../../result.ts';
import type { FileProblem } from './problem.ts';

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

export interface DecodedFile {
  readonly text: string;
  readonly encoding: Encoding;
}

/**
 * About 200,000 rows of a verbose bank: far more than a household's year, and small enough to fit in a phone's memory
 * twice.
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
 * Decodes a bank's export. A byte order mark decides the encoding. Without one, well-formed UTF-8 is read as UTF-8
 * (other encodings are almost never well-formed UTF-8 by chance), and anything else as Windows-1252, which contains the
 * printable characters of Latin-1.
 */
export function decodeFile(bytes: Uint8Array): Result<DecodedFile, FileProblem> {
  if (bytes.length === 0) return fail({ code: 'file-empty' });
  if (bytes.length > maxFileBytes)
    return fail({ code: 'file-too-large', sizeBytes: bytes.length, maxBytes: maxFileBytes });
  for (const { bytes: signature, looksLike } of signatures) {
    if (startsWith(bytes, signature)) return fail({ code: 'file-not-text', looksLike });
  }
  const encoding = encodingOf(bytes);
  // Control characters that do not occur in text indicate a binary file. Tab, line feed, form feed and carriage return
  // are text.
  if (
    !encoding.startsWith('utf-16') &&
    bytes.some((byte) => byte < 0x20 && byte !== 9 && byte !== 10 && byte !== 12 && byte !== 13 && byte !== 0x1a)
  ) {
    return fail({ code: 'file-not-text', looksLike: 'unknown' });
  }
  const text = new TextDecoder(encoding).decode(bytes);
  if (encoding.startsWith('utf-16') && /[\0\ufffd]/.test(text))
    return fail({ code: 'file-not-text', looksLike: 'unknown' });
  if (text.trim() === '') return fail({ code: 'file-empty' });
  if (/^\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype html|html|head|body|script)\b/i.test(text))
    return fail({ code: 'file-is-web-page' });
  return succeed({ text, encoding });
}

function encodingOf(bytes: Uint8Array): Encoding {
  if (startsWith(bytes, [0xff, 0xfe])) return 'utf-16le';
  if (startsWith(bytes, [0xfe, 0xff])) return 'utf-16be';
  try {
    // The decoder has no other way to check whether bytes are well-formed.
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return 'utf-8';
  } catch {
    return 'windows-1252';
  }
}

function startsWith(bytes: Uint8Array, prefix: readonly number[]): boolean {
  return prefix.every((byte, index) => bytes[index] === byte);
}
