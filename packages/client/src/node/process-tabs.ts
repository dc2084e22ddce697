import type { Locks } from '../worker/leader/election.ts';
import type { BroadcastPort } from '../worker/leader/tab-channel.ts';

interface Candidate {
  isGranted: boolean;
  readonly grant: () => void;
}

/**
 * What the tabs of one browser share, simulated for the clients of one process: queued locks like Web Locks, and
 * broadcast channels.
 */
export class ProcessTabs {
  private readonly queues: Map<string, Candidate[]> = new Map();
  private readonly portsByChannel: Map<string, Set<BroadcastPort>> = new Map();

  readonly locks: Locks = {
    request: (name, { ifAvailable = false, signal }, callback) => {
      const queue = this.queues.get(name) ?? [];
      this.queues.set(name, queue);
      if (ifAvailable && queue.length > 0) return Promise.resolve(callback(null));
      return new Promise((resolve, reject) => {
        const leave = (): void => {
          queue.splice(queue.indexOf(candidate), 1);
          grantFirst(queue);
        };
        const candidate: Candidate = {
          isGranted: false,
          grant: () =>
            void Promise.resolve()
              .then(() => callback({}))
              .then(resolve, reject)
              .finally(leave),
        };
        signal?.addEventListener('abort', () => {
          if (candidate.isGranted || !queue.includes(candidate)) return;
          leave();
          reject(signal.reason as Error);
        });
        queue.push(candidate);
        grantFirst(queue);
      });
    },
  };

  /** Opens a port that works like a BroadcastChannel, but does not keep the process alive. */
  openPort(channelName: string): BroadcastPort {
    const ports = this.portsByChannel.get(channelName) ?? new Set();
    this.portsByChannel.set(channelName, ports);
    const port: BroadcastPort = {
      onmessage: null,
      postMessage(message) {
        const data: unknown = structuredClone(message);
        for (const other of ports)
          if (other !== port) queueMicrotask(() => ports.has(other) && other.onmessage?.({ data } as MessageEvent));
      },
      close: () => void ports.delete(port),
    };
    ports.add(port);
    return port;
  }
}

function grantFirst([first]: readonly Candidate[]): void {
  if (first === undefined || first.isGranted) return;
  first.isGranted = true;
  first.grant();
}
