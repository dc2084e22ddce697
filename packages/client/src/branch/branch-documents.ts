import type { DocumentRule } from '@rockpool/shared';
import {
  applyChange,
  canonicalJson,
  invertChange,
  isDocumentEdit,
  mergeJsonTexts,
  parseJson,
  PathRule,
  readNode,
  rootValue,
  updateOfState,
  type JsonChange,
} from '@rockpool/shared/document';
import * as Y from 'yjs';
import type { SqlValue } from '../rpc/sql-value.ts';

// Loaded only for branches of schemas with documents, because it loads Yjs into the page.

export { isDocumentEdit, mergeJsonTexts };

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
