import { DEFAULT_DOCUMENT_RULE, type CellValue } from '@rockpool/shared';
import {
  compactDocument,
  createDocument,
  documentText,
  editDocument,
  encodeDocumentCell,
  parseJson,
  type Author,
} from '@rockpool/shared/document';
import { describe, expect, it } from 'vitest';
import { workOnDocument, type MergeWork } from './document-work.ts';

const ANN: Author = { site: 'a'.repeat(32), generation: 1 };
const BEN: Author = { site: 'b'.repeat(32), generation: 1 };

const json = (text: string): ReturnType<typeof parseJson> => parseJson(text, DEFAULT_DOCUMENT_RULE);
const editOf = (state: CellValue, text: string, author: Author): Uint8Array =>
  editDocument(state, json(text), DEFAULT_DOCUMENT_RULE, author).edit as Uint8Array;

it('content whose column would exceed the limit is rejected, even if it is shorter as it was sent', () => {
  const content = encodeDocumentCell({ kind: 'content', json: '[1e20]' });
  const expand = (maxLength: number): string =>
    workOnDocument({ kind: 'expand', content, rule: { ...DEFAULT_DOCUMENT_RULE, maxLength } }).text;
  expect(expand(23)).toBe('[100000000000000000000]');
  expect(() => expand(22)).toThrow(
    expect.objectContaining({ code: 'document-invalid', fields: { problem: 'size', limit: 22 } }),
  );
});

describe('a late edit of a compacted document', () => {
  const replaced = createDocument(json('{"n":0}'), DEFAULT_DOCUMENT_RULE) as Uint8Array;
  const compacted = compactDocument(replaced, DEFAULT_DOCUMENT_RULE) as Uint8Array;
  const work = (parts: Partial<MergeWork>): MergeWork => ({
    kind: 'merge',
    document: compacted,
    replaced,
    edit: new Uint8Array(),
    rule: DEFAULT_DOCUMENT_RULE,
    site: ANN.site,
    compactAbove: Infinity,
    ...parts,
  });

  it('is carried over identically each time', () => {
    const edit = editOf(replaced, '{"n":0,"lost":1}', ANN);
    const [once, again] = [workOnDocument(work({ edit })), workOnDocument(work({ edit }))];
    expect(again.state).toEqual(once.state);
    expect(again.carried?.client).toBe(once.carried?.client);
    expect(once.text).toBe('{"lost":1,"n":0}');
  });

  it('shares no operation with another edit that a restored server carries over in its place', () => {
    const lost = workOnDocument(work({ edit: editOf(replaced, '{"n":0,"lost":1}', ANN) }));
    const kept = workOnDocument(work({ edit: editOf(replaced, '{"n":0,"kept":2}', ANN) }));
    expect(kept.carried?.client).not.toBe(lost.carried?.client);
    // A client that has received the lost edit overwrites its value.
    const edit = editOf(lost.state, '{"n":0,"lost":3}', BEN);
    expect(() => workOnDocument(work({ document: kept.state, replaced: null, edit, site: BEN.site }))).toThrow(
      expect.objectContaining({ code: 'document-gap' }),
    );
    expect(documentText(kept.state)).toBe('{"kept":2,"n":0}');
  });
});
