import type { DocumentRule } from '@rockpool/shared';
import {
  applyChange,
  canonicalJson,
  diffJson,
  invertChange,
  isDocumentEdit,
  parseJson,
  PathRule,
  readNode,
  rootValue,
  updateOfState,
  valueAt,
  type DocumentPath,
  type JsonChange,
  type JsonValue,
} from '@rockpool/shared/document';
import * as Y from 'yjs';
import type { SqlValue } from '../rpc/sql-value.ts';

// Loaded only for branches of schemas with documents, because it loads Yjs into the page.

export { isDocumentEdit };

/** A document of the origin with the changes of the branch. */
export interface MergedText {
  readonly text: string;
  /** Whether both changed the same place to different values. */
  readonly isConflict: boolean;
}

/**
 * Applies the changes between `base` and `ours` to `theirs`. If a place that they change is gone or is of a different
 * kind, the result is `ours`.
 */
export function mergeDocuments(base: string, ours: string, theirs: string, rule: DocumentRule): MergedText {
  const path = PathRule.root(rule);
  const [from, to, onto] = [base, ours, theirs].map((text) => parseJson(text, rule)) as [
    JsonValue,
    JsonValue,
    JsonValue,
  ];
  const change = diffJson(from, to, path);
  if (change === null) return { text: theirs, isConflict: false };
  const { value, overwritten } = applyChange(onto, change, path);
  const differ = (a: JsonValue, b: JsonValue, at: DocumentPath): boolean =>
    JSON.stringify(valueAt(a, at)) !== JSON.stringify(valueAt(b, at));
  const places = overwritten.filter(({ path: at, isMove }) => !isMove && differ(onto, to, at));
  const isLost = places.some(({ path: at }) => differ(value, to, at));
  return { text: isLost ? ours : canonicalJson(value), isConflict: places.length > 0 };
}

/** Returns the text before an edit, from the text after it and the edit's JSON change, which the changelog keeps. */
export function textBeforeEdit(text: SqlValue, changeJson: SqlValue, rule: DocumentRule): SqlValue {
  const change = typeof changeJson === 'string' ? (JSON.parse(changeJson) as JsonChange | null) : null;
  if (change === null || typeof text !== 'string') return text;
  return apply(text, invertChange(change), rule);
}

/** The text of a deleted row's document, from the state that the changelog keeps. */
export function textOfState(state: SqlValue, rule: DocumentRule): SqlValue {
  if (!(state instanceof Uint8Array)) return state;
  const document = new Y.Doc();
  Y.applyUpdate(document, updateOfState(state));
  return canonicalJson(readNode(rootValue(document), rule.maxDepth));
}

function apply(text: string, change: JsonChange, rule: DocumentRule): string {
  return canonicalJson(applyChange(parseJson(text, rule), change, PathRule.root(rule)).value);
}
