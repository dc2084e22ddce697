import type { OpenedDatabase } from '../../leader/opened-database.ts';

/** Gives a writer a second connection that reads, opened when it is first asked for and closed together with it. */
export function withReadsBeside<Database>(writer: OpenedDatabase<Database>, openReader: () => Promise<OpenedDatabase<Database>>): OpenedDatabase<Database> {
  let opening: Promise<OpenedDatabase<Database>> | null = null;
  return {
    ...writer,
    readsBeside: async () => {
      opening ??= openReader().catch((thrown: unknown) => {
        opening = null; // The next read tries again.
        throw thrown;
      });
      return (await opening).reads;
    },
    close: async (how) => {
      await opening?.then((reader) => reader.close(how)).catch(() => undefined);
      await writer.close(how);
    },
  };
}
