/** The encodings that a user can choose; banks' exports have no others. Names are those of the Encoding Standard. */
export const encodings = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  'windows-1252',
  'iso-8859-2',
  'windows-1250',
  'windows-1251',
  'koi8-r',
  'windows-1253',
  'windows-1254',
  'windows-1255',
  'windows-1256',
  'macintosh',
  'shift_jis',
  'euc-jp',
  'iso-2022-jp',
  'euc-kr',
  'gb18030',
  'big5',
] as const;

export type Encoding = (typeof encodings)[number];

export const encodingWords: Readonly<Record<Encoding, string>> = {
  'utf-8': 'UTF-8',
  'utf-16le': 'UTF-16 (little-endian)',
  'utf-16be': 'UTF-16 (big-endian)',
  'windows-1252': 'Western (Windows-1252)',
  'iso-8859-2': 'Central European (ISO 8859-2)',
  'windows-1250': 'Central European (Windows-1250)',
  'windows-1251': 'Cyrillic (Windows-1251)',
  'koi8-r': 'Cyrillic (KOI8-R)',
  'windows-1253': 'Greek (Windows-1253)',
  'windows-1254': 'Turkish (Windows-1254)',
  'windows-1255': 'Hebrew (Windows-1255)',
  'windows-1256': 'Arabic (Windows-1256)',
  macintosh: 'Western (Mac)',
  shift_jis: 'Japanese (Shift JIS)',
  'euc-jp': 'Japanese (EUC-JP)',
  'iso-2022-jp': 'Japanese (ISO-2022-JP)',
  'euc-kr': 'Korean (EUC-KR)',
  gb18030: 'Chinese, simplified (GB18030)',
  big5: 'Chinese, traditional (Big5)',
};

/** The detector's names that differ from the names of the Encoding Standard. */
const byDetectorName: Readonly<Record<string, Encoding>> = {
  'ISO-8859-1': 'windows-1252',
  'ISO-8859-2': 'iso-8859-2',
  'ISO-8859-5': 'windows-1251',
  'ISO-8859-6': 'windows-1256',
  'ISO-8859-7': 'windows-1253',
  'ISO-8859-8': 'windows-1255',
  'ISO-8859-9': 'windows-1254',
  'KOI8-R': 'koi8-r',
  Shift_JIS: 'shift_jis',
  'EUC-JP': 'euc-jp',
  'EUC-KR': 'euc-kr',
  GB18030: 'gb18030',
  Big5: 'big5',
  'windows-1250': 'windows-1250',
  'windows-1251': 'windows-1251',
  'windows-1252': 'windows-1252',
  'windows-1253': 'windows-1253',
  'windows-1254': 'windows-1254',
  'windows-1255': 'windows-1255',
  'windows-1256': 'windows-1256',
};

const doubleByte: ReadonlySet<Encoding> = new Set(['shift_jis', 'euc-jp', 'euc-kr', 'gb18030', 'big5']);

/** Enough text for statistics of letters, and quick to read. */
const sampleBytes = 64 * 1_024;

/**
 * Detects the encoding of text. It looks first for a byte order mark, then for the zero bytes of UTF-16, then for
 * Japanese escape sequences, then for well-formed characters of UTF-8 (a damaged file still has mostly these), and only
 * then uses the statistics of the detector.
 */
export async function detectEncoding(bytes: Uint8Array): Promise<Encoding> {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  const utf16 = utf16WithoutMark(bytes);
  if (utf16 !== undefined) return utf16;
  if (hasJapaneseEscape(bytes)) return 'iso-2022-jp';
  const { multibyteCount, brokenCount } = utf8Characters(bytes);
  if (brokenCount === 0 || multibyteCount > brokenCount * 2) return 'utf-8';
  // Loaded only for a file that needs it.
  const { analyse } = await import('chardet');
  return bestOf(analyse(textAroundHighBytes(bytes)), bytes);
}

interface Match {
  readonly name: string;
  /** 0 to 100. */
  readonly confidence: number;
}

/**
 * The most confident match that decodes the whole file. Windows-1252 wins over other single-byte encodings unless their
 * letters are frequent: a few accents prove little, and Windows-1252 is by far the most common.
 */
function bestOf(matches: readonly Match[], bytes: Uint8Array): Encoding {
  const known = matches.flatMap(({ name, confidence }) => {
    const encoding = byDetectorName[name];
    return encoding === undefined ? [] : [{ encoding, confidence }];
  });
  const double = known.find(
    ({ encoding, confidence }) => doubleByte.has(encoding) && confidence >= 10 && hasCommonCharacters(encoding, bytes),
  );
  if (double !== undefined) return double.encoding;
  const single = known.filter(({ encoding }) => !doubleByte.has(encoding));
  const western = single.find(({ encoding }) => encoding === 'windows-1252')?.confidence ?? 0;
  const [best] = single;
  return best !== undefined && best.confidence >= western + 10 ? best.encoding : 'windows-1252';
}

/**
 * Whether nearly everything beyond ASCII decodes to common East Asian characters. Western text, too, is often
 * well-formed in these encodings, but as rare characters or with errors.
 */
function hasCommonCharacters(encoding: Encoding, bytes: Uint8Array): boolean {
  const text = new TextDecoder(encoding).decode(bytes.subarray(0, sampleBytes));
  const beyondAscii = text.match(/[^\0-\x7f]/gu)?.length ?? 0;
  const common = text.match(/[\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uffef]/gu)?.length ?? 0;
  // Western text has single accents between ASCII letters; these scripts have runs.
  const runs = text.match(/[\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uffef]{2,}/gu)?.join('').length ?? 0;
  return beyondAscii > 0 && common >= beyondAscii * 0.95 && runs >= common * 0.6;
}

/**
 * Bank files are mostly digits and ASCII, which would dominate the statistics, so only lines with other bytes are kept.
 */
function textAroundHighBytes(bytes: Uint8Array): Uint8Array {
  const kept: number[] = [];
  let lineStart = 0;
  let isHigh = false;
  for (let at = 0; at < bytes.length && kept.length < sampleBytes; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0x80) isHigh = true;
    if (byte !== 0x0a && at !== bytes.length - 1) continue;
    if (isHigh) for (let from = lineStart; from <= at; from += 1) kept.push(bytes[from] ?? 0);
    lineStart = at + 1;
    isHigh = false;
  }
  return new Uint8Array(kept);
}

/** Digits, separators and line ends have a zero byte in UTF-16, always on the same side. */
function utf16WithoutMark(bytes: Uint8Array): Encoding | undefined {
  const length = Math.min(bytes.length, sampleBytes) & ~1;
  let zeroFirst = 0;
  let zeroSecond = 0;
  for (let at = 0; at < length; at += 2) {
    if (bytes[at] === 0) zeroFirst += 1;
    if (bytes[at + 1] === 0) zeroSecond += 1;
  }
  const pairs = length / 2;
  if (pairs < 4 || Math.max(zeroFirst, zeroSecond) < pairs * 0.2 || Math.min(zeroFirst, zeroSecond) > 0)
    return undefined;
  return zeroFirst > zeroSecond ? 'utf-16be' : 'utf-16le';
}

function hasJapaneseEscape(bytes: Uint8Array): boolean {
  for (let at = 0; at + 2 < bytes.length; at += 1)
    if (bytes[at] === 0x1b && bytes[at + 1] === 0x24 && (bytes[at + 2] === 0x42 || bytes[at + 2] === 0x40)) return true;
  return false;
}

/** Counts the characters of more than one byte, and the bytes that are in none. */
export function utf8Characters(bytes: Uint8Array): { readonly multibyteCount: number; readonly brokenCount: number } {
  let multibyteCount = 0;
  let brokenCount = 0;
  for (let at = 0; at < bytes.length;) {
    const byte = bytes[at] ?? 0;
    const length =
      byte < 0x80
        ? 1
        : byte >= 0xc2 && byte < 0xe0
          ? 2
          : byte >= 0xe0 && byte < 0xf0
            ? 3
            : byte >= 0xf0 && byte < 0xf5
              ? 4
              : 0;
    let sound = length > 0;
    for (let next = 1; next < length; next += 1) sound &&= ((bytes[at + next] ?? 0) & 0xc0) === 0x80;
    if (!sound) brokenCount += 1;
    else if (length > 1) multibyteCount += 1;
    at += sound ? length : 1;
  }
  return { multibyteCount, brokenCount };
}
