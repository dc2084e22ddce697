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
  withPlacesOf,
  type JsonChange,
  type JsonValue,
} from '@rockpool/shared/document';
import * as Y from 'yjs';
import type { SqlValue } from '../rpc/sql-value.ts';

// Loaded only for branches of schemas with documents, because it loads Yjs into the page.

export { isDocumentEdit };

/** A document of the origin with the changes of the branch. */
export interface MergedText {
  /** With the branch's value at each place that both have changed. */
  readonly ours: string;
  /** With the origin's value at these places. */
  readonly theirs: string;
  /** Whether there is such a place. */
  readonly isConflict: boolean;
}

/**
 * Applies the changes between `base` and `ours` to `theirs`. A place that they change and that is gone in `theirs`, or
 * is of a different kind, counts as changed by both.
 */
export function mergeDocuments(base: string, ours: string, theirs: string, rule: DocumentRule): MergedText {
  const path = PathRule.root(rule);
  const [from, to, onto] = [base, ours, theirs].map((text) => parseJson(text, rule)) as [
    JsonValue,
    JsonValue,
    JsonValue,
  ];
  const change = diffJson(from, to, path);
  if (change === null) return { ours: theirs, theirs, isConflict: false };
  const { value, overwritten } = applyChange(onto, change, path);
  const places = overwritten.filter(
    ({ path: at, isMove }) => !isMove && JSON.stringify(valueAt(onto, at)) !== JSON.stringify(valueAt(to, at)),
  );
  const keeping = (source: JsonValue): string => canonicalJson(withPlacesOf(source, value, places));
  return { ours: keeping(to), theirs: keeping(onto), isConflict: places.length > 0 };
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
