import { DEFAULT_DOCUMENT_RULE, document, tablePolicies, type CellValue } from '@rockpool/shared';
import {
  createDocument,
  documentText,
  encodeDocumentCell,
  decodeDocumentCell,
  editDocument,
  parseJson,
} from '@rockpool/shared/document';
import { beforeAll, expect, it } from 'vitest';
import { bindToStates } from '../documents/document-rebase.ts';
import { loadDocumentSupport } from '../documents/load-document-support.ts';
import { rebaseRow } from './rebase-row.ts';
import type { ColumnRules, PendingRowChange } from './row-state.ts';

const PAGE = 1;
const RULE = DEFAULT_DOCUMENT_RULE;
const documents = new Map([[PAGE, RULE]]);
const columns: ColumnRules = { documents, policies: bindToStates(tablePolicies([[PAGE, document]]), { documents }) };

beforeAll(() => loadDocumentSupport());

/**
 * A document that began as {"title":"Idea"} and was edited by another site, and the update of that site's next edit.
 */
function edited(): { readonly state: CellValue; readonly update: CellValue } {
  const author = { site: 'other', generation: 1 };
  const { state } = editDocument(
    createDocument(parseJson('{"title":"Idea"}', RULE), RULE),
    parseJson('{"title":"Plan"}', RULE),
    RULE,
    author,
  );
  const { edit } = editDocument(state, parseJson('{"title":"Trip"}', RULE), RULE, author);
  const { documentId, update } = decodeDocumentCell(edit) as Extract<
    ReturnType<typeof decodeDocumentCell>,
    { kind: 'edit' }
  >;
  return { state, update: encodeDocumentCell({ kind: 'update', documentId, updates: [update] }) };
}

it.each<[string, CellValue]>([
  ['NULL', null],
  ['another document', encodeDocumentCell({ kind: 'content', json: '{"title":"Mine"}' })],
  ['the initial content', encodeDocumentCell({ kind: 'content', json: '{"title":"Idea"}' })],
])('an update merges into the earlier document if a local write of %s lost', (_, written) => {
  const { state, update } = edited();
  const own: PendingRowChange = {
    sequence: 1,
    base: 1,
    cellBases: new Map(),
    kind: 'update',
    values: new Map([[PAGE, written]]),
    before: new Map(),
  };
  const visible = { exists: true, values: new Map<number, CellValue>([[PAGE, null]]) };
  const row = { visible, covered: new Map([[PAGE, state]]), pending: [own], columns };
  const after = rebaseRow(row, [{ kind: 'update', values: new Map([[PAGE, update]]) }], {
    outcomeKinds: new Map([[1, 'admitted']]),
    maskedBefore: new Set(),
    maskedAfter: new Set(),
  });
  expect(documentText(after.visible.values.get(PAGE) ?? null)).toBe('{"title":"Trip"}');
});
