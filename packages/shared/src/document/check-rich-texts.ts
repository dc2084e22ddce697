import * as Y from 'yjs';
import type { PathRule } from './document-rule.ts';
import { invalid } from './json.ts';
import { isListNode, namedElements, PLACE, plainPart, type Node } from './json-node.ts';
import { isRichText } from './rich-text-node.ts';

/** Checks that rich texts are exactly where the rule declares them. Throws `document-invalid`. */
export function checkRichTexts(node: Node | undefined, rule: PathRule): void {
  if (rule.isRichText && node !== null && !isRichText(node)) throw invalid('rich-text');
  if (node instanceof Y.Text && !rule.isRichText && (isRichText(node) || hasFormats(node))) throw invalid('rich-text');
  if (!(node instanceof Y.Map)) return;
  if (!isListNode(node)) return checkMembers(node, rule);
  for (const element of namedElements(node)) checkMembers(element.node, rule.element());
  for (const element of plainPart(node)) checkRichTexts(element, rule.element());
}

function checkMembers(map: Y.Map<Node>, rule: PathRule): void {
  for (const [key, node] of map.entries()) if (key !== PLACE) checkRichTexts(node, rule.member(key));
}

function hasFormats(text: Y.Text): boolean {
  return (
    text._hasFormatting &&
    (text.toDelta() as readonly { readonly attributes?: object }[]).some(({ attributes }) => attributes !== undefined)
  );
}
