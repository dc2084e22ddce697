import { RockpoolError } from '@rockpool/shared';
import type { Transport, TransportConnection } from '../rpc/transport.ts';

/** The part of a sync server that clients in the same process use: a `SyncServer` of `@rockpool/sync-server`. */
export interface InProcessServer {
  connect(client: { receive(frame: Uint8Array): void; closed(code: number, reason: string): void }): {
    send(frame: Uint8Array): void;
    readonly bufferedBytes: number;
    close(): void;
  };
  /** Answers file requests, such as for snapshots. */
  readonly app: { fetch(request: Request): Response | Promise<Response> };
}

/**
 * A transport to a sync server in the same process, without sockets and HTTP servers, for tests of apps.
 *
 * ```ts
 * const server = createSyncServer({ dataDir, schema, secret });
 * const client = await createClient({
 *   name: 'todos',
 *   schema,
 *   sync: { url: 'ws://in-process', databaseId: 'list', token, transport: inProcess(server) },
 * });
 * ```
 */
export function inProcess(server: InProcessServer): Transport {
  return {
    connect: (_url, events) => connect(server, events),
    request: async (path, init) => server.app.fetch(new Request(`http://in-process${path}`, init)),
  };
}

function connect(server: InProcessServer, events: Parameters<Transport['connect']>[1]): TransportConnection {
  let isOver = false;
  let session: ReturnType<InProcessServer['connect']> | null = null;
  const end = (fields: Readonly<Record<string, string | number>>): void => {
    if (isOver) return;
    isOver = true;
    events.onClosed(new RockpoolError('network-unreachable', { stage: 'in-process', ...fields }));
  };
  // Runs in a separate task, because events never run inside `connect`.
  setTimeout(() => {
    if (isOver) return;
    try {
      session = server.connect({
        receive(frame) {
          if (!isOver) events.onFrame(frame);
        },
        closed: (closeCode) => end({ closeCode }),
      });
    } catch (thrown) {
      return end({ refused: thrown instanceof RockpoolError ? thrown.code : 'internal' });
    }
    events.onOpen();
  }, 0);
  return {
    send: (frame) => session?.send(frame),
    get bufferedBytes(): number {
      return session?.bufferedBytes ?? 0;
    },
    close(): void {
      isOver = true;
      session?.close();
    },
  };
}
