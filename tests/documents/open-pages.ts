import { expect } from 'vitest';
import { RockpoolError } from '#shared/index.ts';
import { canonicalJson, rootValue, type JsonValue, type Node } from '#shared/document/index.ts';
import type { LiveDocument } from '#client/interface/live-document.ts';
import { openDocumentOn } from '#kit/open-document-on.ts';
import type { MeetingDevice } from './meeting-device.ts';

export type Text = Extract<Node, { toDelta(): unknown }>;

type Open = LiveDocument<JsonValue>;

/** The pages of several devices. Each edited document stays open until its row is deleted. */
export class OpenPages {
  private readonly open = new Map<MeetingDevice, Map<string, Open>>();
  private readonly followers = new Map<MeetingDevice, Set<() => void>>();

  /** Opens a document that the caller settles and closes. Rejects with `document-gone`. */
  openOn(device: MeetingDevice, key: string): Promise<Open> {
    const [table] = device.database.schema.tables;
    if (table === undefined) throw new Error('the schema has no table');
    const followers = this.followers.get(device) ?? new Set();
    this.followers.set(device, followers);
    const follow = (listener: () => void): (() => void) => {
      followers.add(listener);
      return () => followers.delete(listener);
    };
    return openDocumentOn(device, { table, key, column: 'content', follow });
  }

  /** Notifies the pages of a device of a commit. */
  notify(device: MeetingDevice): void {
    for (const follow of this.followers.get(device) ?? []) follow();
  }

  /** Edits a document in its Y.Doc with Yjs. Does nothing if there is no document. */
  async type(device: MeetingDevice, key: string, content: JsonValue): Promise<void> {
    const page = await this.page(device, key);
    if (page === null) return;
    const root = rootValue(page.doc);
    const note = typeof root === 'object' && root !== null && 'keys' in root ? root.get('note') : undefined;
    if (isText(root)) root.insert(0, 'typed ');
    else if (isText(note)) typeWithFormats(note, canonicalJson(content).length);
    else page.change(() => content);
    await this.settle(device, key, page);
  }

  /** Applies commits to the pages of a device; each then equals its column. */
  async follow(device: MeetingDevice): Promise<void> {
    this.notify(device);
    for (const [key, page] of this.pagesOf(device)) await this.settle(device, key, page);
  }

  private async settle(device: MeetingDevice, key: string, page: Open): Promise<void> {
    await page.saved().catch((error: unknown) => {
      if (!(error instanceof RockpoolError) || error.code !== 'document-gone') throw error;
    });
    const stored = device.database.connection.value('SELECT content FROM page WHERE id = ?', key) ?? null;
    const { value, state } = page.current;
    expect(value === null && state === 'gone' ? null : canonicalJson(value)).toBe(stored);
    if (state !== 'open') this.pagesOf(device).delete(key);
  }

  private async page(device: MeetingDevice, key: string): Promise<Open | null> {
    const known = this.pagesOf(device).get(key);
    if (known !== undefined) return known;
    try {
      const page = await this.openOn(device, key);
      this.pagesOf(device).set(key, page);
      return page;
    } catch (error) {
      if (error instanceof RockpoolError && error.code === 'document-gone') return null;
      throw error;
    }
  }

  private pagesOf(device: MeetingDevice): Map<string, Open> {
    const pages = this.open.get(device) ?? new Map<string, Open>();
    this.open.set(device, pages);
    return pages;
  }
}

function isText(node: Node | undefined): node is Text {
  return typeof node === 'object' && node !== null && 'toDelta' in node;
}

/**
 * Edits as a rich-text editor does. Never splits a surrogate pair, which Yjs would show as two invalid characters in
 * this page only. `choice`: selects the edit and its position.
 */
function typeWithFormats(text: Text, choice: number): void {
  const written = (text.toDelta() as { readonly insert: string }[]).map(({ insert }) => insert).join('');
  const beforeCharacter = (unit: number): number => ((written.codePointAt(unit - 1) ?? 0) > 0xffff ? unit + 1 : unit);
  const at = beforeCharacter(choice % (written.length + 1));
  const until = (most: number): number => beforeCharacter(Math.min(at + most, written.length)) - at;
  if (choice % 4 === 0) text.insert(at, 'typed ');
  else if (choice % 4 === 1) text.insert(at, 'bold ', { bold: true });
  else if (choice % 4 === 2) text.format(at, until(4), { italic: choice % 3 === 0 ? null : true });
  else text.delete(at, until(2));
}
