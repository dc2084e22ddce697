import {
  columnIdOf,
  DEFAULT_DOCUMENT_RULE,
  tableIdOf,
  type CellValue,
  type Delivery,
  type DocumentRule,
} from '@rockpool/shared';
import { editDocument, mergeDelivered, parseJson } from '@rockpool/shared/document';
import type { TestConnection } from './test-client.ts';

/** The rule of the column `content` of the table `pages`. */
export const PAGE_RULE: DocumentRule = { ...DEFAULT_DOCUMENT_RULE, text: ['body'], richText: ['note'] };

/** A device's copy of the document of one page. */
export class Page {
  state: CellValue = null;
  generation = 1;
  readonly connection: TestConnection;

  constructor(connection: TestConnection) {
    this.connection = connection;
  }

  /** Edits the document and returns the edit that a client sends. */
  edit(text: string): CellValue {
    const site = Buffer.from(this.connection.site.siteId).toString('hex');
    const edited = editDocument(this.state, parseJson(text, PAGE_RULE), PAGE_RULE, {
      site,
      generation: this.generation,
    });
    this.state = edited.state;
    return edited.edit;
  }

  takeDelivery(delivery: Delivery): void {
    for (const { tableId, columnIds, values, kind } of delivery.groups) {
      if (tableId !== tableIdOf('pages')) continue;
      const column = columnIds.indexOf(columnIdOf('content'));
      if (kind === 'delete') this.state = null;
      else if (column >= 0) this.state = mergeDelivered(this.state, values[column]?.[0] ?? null);
    }
  }

  /** Pushes all edits and reads messages until they are decided. */
  async meet(): Promise<void> {
    this.connection.push();
    let delivery: Delivery;
    do {
      delivery = await this.connection.delivery();
      this.takeDelivery(delivery);
    } while (delivery.lastAckedSequence < this.connection.site.changelog.length);
  }
}
