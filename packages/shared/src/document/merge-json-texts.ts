import { PathRule, type DocumentRule } from './document-rule.ts';
import { canonicalJson, parseJson } from './json.ts';
import { applyChange, diffJson } from './json-change.ts';

/** Applies the change from `from` to `to` to the JSON text `onto`. */
export function mergeJsonTexts(from: string, to: string, onto: string, rule: DocumentRule): string {
  const path = PathRule.root(rule);
  const change = diffJson(parseJson(from, rule), parseJson(to, rule), path);
  return change === null ? onto : canonicalJson(applyChange(parseJson(onto, rule), change, path).value);
}
