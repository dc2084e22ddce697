import { toRockpoolError } from '@rockpool/shared';
import type { Connect } from './server-connection.ts';

/**
 * Connections that send their messages, in order, once every earlier commit is stored. A changeset that was sent must
 * not be undone on this device: its sequence would be reused for a different one. A refused commit ends the connection.
 */
export function sendWhenStored(connect: Connect, committed: () => Promise<void>): Connect {
  return (url, events) => {
    const connection = connect(url, events);
    let isClosed = false;
    let sending: Promise<void> = Promise.resolve();
    return {
      send(message) {
        const stored = committed();
        sending = Promise.all([sending, stored]).then(
          () => {
            if (!isClosed) connection.send(message);
          },
          (thrown: unknown) => {
            if (isClosed) return;
            isClosed = true;
            connection.close();
            events.onFailed(toRockpoolError(thrown).toData());
          },
        );
      },
      get bufferedBytes() {
        return connection.bufferedBytes;
      },
      close() {
        isClosed = true;
        connection.close();
      },
    };
  };
}
