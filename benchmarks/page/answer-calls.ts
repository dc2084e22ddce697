import type { Host } from './host.ts';
import type { Answer, Call } from './messages.ts';

/** Responds to calls of the page in the order in which they arrive. */
export function answerCalls(host: Host): void {
  const answer = (message: Answer, transfer: Transferable[] = []): void =>
    (self as unknown as Worker).postMessage(message, transfer);

  async function respond({ id, method, args }: Call): Promise<void> {
    try {
      const [operation, operationArgs] = args as [string, [number]];
      const people = method === 'call' && operation === 'readPeople' ? host.packPeople(operationArgs[0]) : undefined;
      if (people !== undefined) return answer({ id, value: people.packed, isPacked: true }, people.transfer);
      answer({ id, value: await (host[method] as (...rest: readonly unknown[]) => unknown)(...args) });
    } catch (error) {
      answer({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  }

  self.addEventListener('message', (event: MessageEvent<Call>) => {
    // Peers that share this thread (absurd-sql) have messages of their own.
    if (typeof event.data?.method === 'string') void respond(event.data);
  });
}
