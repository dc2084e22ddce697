/** The format of a text without a table, for the message that rejects the file. */
export type ForeignFormat = 'mt940' | 'json' | 'xml' | 'sql' | 'vcard' | 'text';

export const foreignFormatWords: Readonly<Record<ForeignFormat, string>> = {
  mt940: 'an MT940 statement',
  json: 'JSON data',
  xml: 'XML of another kind',
  sql: 'SQL statements',
  vcard: 'contacts or a calendar',
  text: 'plain text without columns',
};

export function foreignFormat(text: string): ForeignFormat {
  const start = text.slice(0, 2_000).trimStart();
  if (/^(\{1:|:20:)/.test(start) || /^:6[01][FM]?:/m.test(start)) return 'mt940';
  if (/^[[{]\s*["\]{}[]/.test(start)) return 'json';
  if (/^<\?xml|^<[a-z]/i.test(start)) return 'xml';
  if (/^(INSERT INTO|CREATE TABLE)\b/im.test(start)) return 'sql';
  if (start.startsWith('BEGIN:V')) return 'vcard';
  return 'text';
}
