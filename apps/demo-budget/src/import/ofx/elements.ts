import { withoutEntities } from './entities.ts';

/** A token of an OFX file, in file order: the start or end of an aggregate, or an element with its value. */
export type OfxPiece =
  | { readonly kind: 'begin'; readonly name: string }
  | { readonly kind: 'end'; readonly name: string }
  | { readonly kind: 'value'; readonly name: string; readonly value: string };

/**
 * Reads OFX 1.x, which is SGML and leaves elements with a value unclosed, and OFX 2.x, which is XML and closes them.
 * The common subset is enough: a tag followed by text is an element with a value, and its closing tag, if any, adds
 * nothing. An empty element without a closing tag is left out.
 */
export function* readElements(text: string): Generator<OfxPiece> {
  const escaped = text.replace(/<!\[CDATA\[([\s\S]*?)\]\]>/g, (_, raw: string) =>
    raw.replaceAll('&', '&amp;').replaceAll('<', '&lt;'),
  );
  const tags = [...escaped.matchAll(/<(\/?)([A-Za-z][\w.]*)\s*>([^<]*)/g)];
  const closed = new Set(tags.flatMap(([, slash, tag = '']) => (slash === '/' ? [tag.toUpperCase()] : [])));
  let valued: string | null = null;
  for (const [, slash, tag = '', following = ''] of tags) {
    const name = tag.toUpperCase();
    const value = following.trim();
    if (slash === '/') {
      if (name !== valued) yield { kind: 'end', name };
      valued = null;
    } else if (value === '') {
      if (closed.has(name)) yield { kind: 'begin', name };
      valued = null;
    } else {
      yield { kind: 'value', name, value: withoutEntities(value) };
      valued = name;
    }
  }
}
