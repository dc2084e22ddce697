import { withoutEntities } from '../ofx/entities.ts';

export interface XmlElement {
  /** Without the namespace's prefix. */
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  /** The text directly inside. */
  readonly text: string;
}

interface OpenElement extends XmlElement {
  readonly children: XmlElement[];
  text: string;
}

/**
 * Parses XML into its root element. Undefined for text that is cut off or not well-formed. Declarations, comments and
 * processing instructions are skipped, and no external entity is ever read.
 */
export function parseXml(text: string): XmlElement | undefined {
  const top: OpenElement = { name: '', attributes: new Map(), children: [], text: '' };
  const open: OpenElement[] = [top];
  const pieces = /<!--[\s\S]*?-->|<!\[CDATA\[([\s\S]*?)\]\]>|<[?!][^>]*>|<(\/?)([\w.:-]+)([^>]*?)(\/?)>|([^<]+)/g;
  for (const [, cdata, slash, qualified = '', attributes = '', empty, between] of text.matchAll(pieces)) {
    const current = open.at(-1);
    if (current === undefined) return undefined;
    if (cdata !== undefined) current.text += cdata;
    else if (between !== undefined) current.text += withoutEntities(between);
    else if (qualified !== '') {
      const name = qualified.slice(qualified.indexOf(':') + 1);
      if (slash === '/') {
        if (current.name !== name) return undefined;
        open.pop();
      } else {
        const element: OpenElement = { name, attributes: readAttributes(attributes), children: [], text: '' };
        current.children.push(element);
        if (empty !== '/') open.push(element);
      }
    }
  }
  return open.length === 1 ? top.children[0] : undefined;
}

function readAttributes(text: string): ReadonlyMap<string, string> {
  const attributes = new Map<string, string>();
  for (const [, name = '', double, single] of text.matchAll(/([\w.:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g))
    attributes.set(name, withoutEntities(double ?? single ?? ''));
  return attributes;
}

export function childOf(element: XmlElement, name: string): XmlElement | undefined {
  return element.children.find((child) => child.name === name);
}

export function childrenOf(element: XmlElement, name: string): readonly XmlElement[] {
  return element.children.filter((child) => child.name === name);
}

/** The text at a path of children; empty if there is none. */
export function textAt(element: XmlElement, ...path: readonly string[]): string {
  let current: XmlElement | undefined = element;
  for (const name of path) current = current === undefined ? undefined : childOf(current, name);
  return current?.text.trim() ?? '';
}
