import { elementName, rootValue, type DocumentPath, type Node } from '@rockpool/shared/document';
import { Map as YMap, Text, type Doc } from 'yjs';
import { withWholeCharacters } from './whole-characters.ts';

/** Returns the text at a path of a document; null if there is none. Elements without a key have no path. */
export function textAt(doc: Doc, path: DocumentPath): Text | null {
  let node: Node | undefined = rootValue(doc);
  for (const step of path) {
    const [[elementKey] = ['']] = typeof step === 'object' ? Object.entries(step) : [];
    const name = typeof step === 'object' ? elementName(step, elementKey) : step;
    node = node instanceof YMap && typeof name === 'string' ? node.get(name) : undefined;
  }
  return node instanceof Text ? withWholeCharacters(node) : null;
}
