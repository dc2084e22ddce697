import type { LiveDocument } from '#client/interface/live-document.ts';
import { openDocument } from '#client/document/open-document.ts';
import { toStatementResult } from '#client/rpc/statement-result.ts';
import type { TableSchema } from '#shared/index.ts';
import type { JsonValue } from '#shared/document/index.ts';
import type { TestDevice } from './test-device.ts';

export interface PageOptions {
  readonly table: TableSchema;
  readonly key: string;
  readonly column: string;
  /** Calls the listener after every commit. Returns a function that ends the calls. */
  readonly follow: (listener: () => void) => () => void;
  /** Called after the page has changed the document. */
  readonly onChange?: () => void;
  /** How long a message between page and worker takes. Default: no time. */
  readonly delay?: () => Promise<void>;
}

/** Opens a document of a device as a page does. Rejects with `document-gone`. */
export function openDocumentOn<Content extends JsonValue = JsonValue>(
  device: TestDevice,
  { table, key, column, follow, onChange, delay = () => Promise.resolve() }: PageOptions,
): Promise<LiveDocument<Content>> {
  return openDocument<Content>(
    {
      read: async () => {
        await delay();
        const value = device.database.connection.value(`SELECT ${column} FROM ${table.name} WHERE id = ?`, key) ?? null;
        await delay();
        return value;
      },
      follow,
      beforeEnd: () => () => undefined,
      change: async (changeJson) => {
        await delay();
        const action = { kind: 'change-document', table: table.name, key: [key], column, changeJson } as const;
        const { results } = device.request({ statements: [], action });
        onChange?.();
        const [row] = toStatementResult<{ text: string }>(results[0] as never).rows;
        await delay();
        return row?.text ?? '';
      },
      onProblem: (error) => {
        throw error;
      },
      history: () => Promise.reject(new Error('documents of this kit have no history')),
      presence: { set: () => undefined, current: [], subscribe: () => () => undefined },
    },
    { table, column },
  );
}
