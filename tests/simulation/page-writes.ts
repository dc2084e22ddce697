import { diffJson, parseJson, PathRule, type JsonObject, type JsonValue, type Run } from '#shared/document/index.ts';
import type { SqlStatement } from '#client/rpc/sql-statement.ts';
import type { SqlParam } from '#client/rpc/sql-value.ts';
import type { WriteAction } from '#client/rpc/write-action.ts';
import { PAGE_RULE } from './household-schema.ts';
import type { Random } from './random.ts';

/** What a transaction may do to pages (documents). Entries that occur more than once are more likely. */
export const PAGE_SUBJECTS = [
  'page',
  'page',
  'page item',
  'page item',
  'page ends',
  'page ends',
  'page text',
  'page patch',
  'page order',
  'page item note',
  'empty page',
  'drop page',
] as const;

export type PageSubject = (typeof PAGE_SUBJECTS)[number];

/** A page as a tab sees it. */
export interface SeenPage {
  readonly id: string;
  /** Null for a page without a document. */
  readonly content: string | null;
}

/** Few pages, so that devices conflict. */
const PAGES = ['p1', 'p2', 'p3'] as const;

/** Every second page starts with the same content on every device, and is then one document. */
const START: JsonObject = { body: 'low tide', counts: {}, items: [] };

/** Writes to both texts: insertions at the start and the end, and other formats of the first run. */
const TEXT_WRITES = [
  "json_set(content, '$.body', ? || (content ->> 'body'))",
  "json_set(content, '$.body', substr(content ->> 'body', 5) || ?)",
  "json_set(content, '$.body', ?)",
  `json_insert(content, '$.note[#]', json_object('insert', ?, 'attributes', json('{"bold":true}')))`,
  "CASE WHEN content ->> '$.note[0].insert' IS NULL THEN content ELSE json_set(content, '$.note[0].attributes', json_object('by', ?)) END",
  "CASE WHEN content ->> '$.note[0].insert' IS NULL THEN content ELSE json_set(content, '$.note[0].insert', substr(content ->> '$.note[0].insert', 3) || ?) END",
] as const;

/**
 * Changes a page by SQL. Items carry the token, so that each can be traced; `left` and `right` are always written
 * together.
 */
export function pageStatements(
  pages: readonly SeenPage[],
  random: Random,
  token: string,
  subject: PageSubject,
): SqlStatement[] {
  const set = (expression: string, ...params: SqlParam[]): SqlStatement[] => [
    { sql: `UPDATE page SET content = ${expression} WHERE id = ?`, params: [...params, random.pick(PAGES)] },
  ];
  switch (subject) {
    case 'page': {
      const start = random.chance(0.5) ? START : { ...START, items: [{ id: token, note: 'first' }] };
      return [
        {
          sql: 'INSERT INTO page (id, content) VALUES (?, ?) ON CONFLICT DO UPDATE SET content = coalesce(content, excluded.content)',
          params: [random.pick(PAGES), JSON.stringify(start)],
        },
      ];
    }
    case 'page item':
      return set(`json_insert(content, '$.items[#]', json_object('note', 'new', 'id', ?))`, token);
    case 'page ends':
      return set(`json_set(content, '$.left', ?1, '$.right', ?1)`.replaceAll('?1', '?'), token, token);
    case 'page text':
      return set(random.pick(TEXT_WRITES), token);
    case 'page patch':
      return set(
        'json_patch(content, ?)',
        JSON.stringify({
          counts: { [random.pick(['a', 'b'])]: random.below(9), all: random.below(99) },
          flag: random.pick([true, false, null]),
        }),
      );
    case 'page item note':
      return set(
        `CASE WHEN content ->> '$.items[0].id' IS NULL THEN content ELSE json_set(content, '$.items[0].note', (content ->> '$.items[0].note') || ?) END`,
        token,
      );
    case 'page order': {
      const page = pages.length === 0 ? null : random.pick(pages);
      const reordered = page === null ? null : reorder(page, random);
      return reordered === null
        ? []
        : [
            {
              sql: 'UPDATE page SET content = ? WHERE id = ?',
              params: [JSON.stringify(reordered), (page as SeenPage).id],
            },
          ];
    }
    case 'empty page':
      return random.chance(0.3) ? set('NULL') : [];
    case 'drop page':
      return random.chance(0.3) ? [{ sql: 'DELETE FROM page WHERE id = ?', params: [random.pick(PAGES)] }] : [];
  }
}

/** Changes a page as the tab's Y.Doc would. Null if there is no page. */
export function pageChange(
  pages: readonly SeenPage[],
  random: Random,
  token: string,
): Extract<WriteAction, { kind: 'change-document' }> | null {
  const seen = pages.filter(({ content }) => content !== null);
  if (seen.length === 0) return null;
  const page = random.pick(seen);
  const before = contentOf(page);
  const after = random.chance(0.5)
    ? { ...before, left: token, right: token }
    : random.chance(0.5)
      ? { ...before, body: `${before['body'] as string} ${token}` }
      : { ...before, note: typedInto(before['note'], token, random) };
  const change = diffJson(before, after, PathRule.root(PAGE_RULE));
  return change === null
    ? null
    : { kind: 'change-document', table: 'page', key: [page.id], column: 'content', changeJson: JSON.stringify(change) };
}

/**
 * Inserts into the middle of the first run, either with a format of its own, which splits the run in three, or with the
 * run's format.
 */
function typedInto(note: JsonValue | undefined, token: string, random: Random): JsonValue {
  const [first, ...rest] = (note ?? []) as unknown as readonly Run[];
  if (first === undefined) return [{ insert: token }];
  const middle = first.insert.length >> 1;
  const typed: Run = random.chance(0.5) ? { ...first, insert: token } : { insert: token, attributes: { italic: true } };
  return [
    { ...first, insert: first.insert.slice(0, middle) },
    typed,
    { ...first, insert: first.insert.slice(middle) },
    ...rest,
  ] as JsonValue;
}

/** Reorders items and sometimes removes one: writes the whole document. */
function reorder(page: SeenPage, random: Random): JsonObject | null {
  if (page.content === null) return null;
  const content = contentOf(page);
  const items = [...((content['items'] ?? []) as readonly JsonValue[])];
  if (items.length === 0) return null;
  const [moved] = items.splice(random.below(items.length), 1) as [JsonValue];
  if (random.chance(0.7)) items.splice(random.below(items.length + 1), 0, moved);
  return { ...content, items };
}

function contentOf({ content }: SeenPage): JsonObject {
  return parseJson(content as string, PAGE_RULE) as JsonObject;
}
