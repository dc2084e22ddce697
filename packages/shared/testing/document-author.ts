import * as Y from 'yjs';
import type { CellValue } from '../src/change/cell-value.ts';
import { decodeDocumentCell, encodeDocumentCell, type DocumentCell } from '../src/document/document-cell.ts';
import { clientIdOf } from '../src/document/document-id.ts';
import { PathRule, type DocumentRule } from '../src/document/document-rule.ts';
import type { JsonValue } from '../src/document/json.ts';
import { writeJson } from '../src/document/write-json.ts';

/** An author who edits one document repeatedly, in a Y.Doc into which no other author writes. */
export class DocumentAuthor {
  private readonly documentId: Uint8Array;
  private readonly doc = new Y.Doc();
  private readonly rule: PathRule;
  private readonly site: string;

  constructor(state: CellValue, rule: DocumentRule, site: string) {
    const { documentId, update } = decodeDocumentCell(state) as Extract<DocumentCell, { kind: 'state' }>;
    Y.applyUpdate(this.doc, update);
    this.documentId = documentId;
    this.rule = PathRule.root(rule);
    this.site = site;
  }

  /** The edit that gives the document this content. */
  edit(content: JsonValue, generation: number): Uint8Array<ArrayBuffer> {
    const { doc, documentId } = this;
    doc.clientID = clientIdOf(this.site, generation);
    const updates: Uint8Array[] = [];
    doc.once('update', (update: Uint8Array) => updates.push(update));
    doc.transact(() => writeJson(doc, content, this.rule));
    return encodeDocumentCell({ kind: 'edit', documentId, generation, update: updates[0] ?? new Uint8Array([0, 0]) });
  }
}
