import type { ChannelMessage } from '#client/worker/leader/channel-message.ts';
import type { Locks } from '#client/worker/leader/election.ts';
import type { BroadcastPort } from '#client/worker/leader/tab-channel.ts';
import type { Random } from './random.ts';
import type { Owner, VirtualTime } from './virtual-time.ts';

// The longest time that a message between two tabs takes, in ms.
const LONGEST_MESSAGE_MS = 4;

interface Candidate {
  readonly owner: Owner;
  granted: boolean;
  grant(): void;
}

/** The parts of one browser that its tabs share: queued locks and broadcast channels. */
export class Browser {
  private readonly time: VirtualTime;
  private readonly random: Random;
  private readonly queues = new Map<string, Candidate[]>();
  private readonly ports = new Set<SimulatedPort>();
  /** The number of upcoming commit notices that are lost. */
  private noticesToLose = 0;
  private answersToLose = 0;
  private asksToDouble = 0;

  private readonly onFault: (what: string) => void;

  /** `onFault` is called when a message was lost or doubled. */
  constructor(time: VirtualTime, random: Random, onFault: (what: string) => void) {
    this.time = time;
    this.random = random;
    this.onFault = onFault;
  }

  openPort(channelName: string, owner: Owner): BroadcastPort {
    const port = new SimulatedPort(channelName, owner, this.time, {
      // Each port receives its messages in order, with its own delay.
      post: (data) => {
        if (this.loses(data)) return;
        const times = this.doubles(data) ? 2 : 1;
        const others = [...this.ports].filter((other) => other !== port && other.channelName === channelName);
        if (others.length === 0) return;
        const copy: unknown = structuredClone(data);
        for (let time = 0; time < times; time++)
          for (const other of others) other.deliver(copy, this.random.below(LONGEST_MESSAGE_MS));
      },
      close: () => void this.ports.delete(port),
    });
    this.ports.add(port);
    return port;
  }

  locks(owner: Owner): Locks {
    return {
      request: (name, { ifAvailable = false, signal }, callback) =>
        new Promise((resolve, reject) => {
          if (!owner.isAlive) return;
          const queue = this.queues.get(name) ?? [];
          this.queues.set(name, queue);
          if (ifAvailable && queue.length > 0) return queueMicrotask(() => resolve(callback(null)));
          const candidate: Candidate = {
            owner,
            granted: false,
            grant: () => {
              candidate.granted = true;
              this.time.as(owner, () =>
                queueMicrotask(() => {
                  if (!owner.isAlive) return;
                  Promise.resolve(callback({})).then((value) => {
                    this.leave(queue, candidate);
                    resolve(value);
                  }, reject);
                }),
              );
            },
          };
          signal?.addEventListener('abort', () => {
            if (candidate.granted) return;
            this.leave(queue, candidate);
            reject(new DOMException('aborted', 'AbortError'));
          });
          queue.push(candidate);
          serve(queue);
        }),
    };
  }

  /** Loses the next commit notices. No known browser does this; the simulation is stricter than reality. */
  loseNotices(count: number): void {
    this.noticesToLose = count;
  }

  /** Loses the leader's next responses; the followers repeat their requests. */
  loseAnswers(count: number): void {
    this.answersToLose = count;
  }

  /** Makes the next requests to the leader arrive twice. */
  doubleAsks(count: number): void {
    this.asksToDouble = count;
  }

  private loses(data: unknown): boolean {
    const kind = messageOf(data)?.kind;
    if (kind === 'commit') return this.noticesToLose-- > 0;
    if ((kind !== 'answer' && kind !== 'refused') || this.answersToLose <= 0) return false;
    this.answersToLose--;
    this.onFault('lost answer of the leader');
    return true;
  }

  private doubles(data: unknown): boolean {
    if (messageOf(data)?.kind !== 'ask' || this.asksToDouble <= 0) return false;
    this.asksToDouble--;
    this.onFault('doubled request to the leader');
    return true;
  }

  /** Ends the tab: its locks pass to the next tab in the queue, and it sends no more messages. */
  forget(owner: Owner): void {
    for (const port of this.ports) if (port.owner === owner) this.ports.delete(port);
    for (const queue of this.queues.values()) {
      for (const candidate of queue.filter((one) => one.owner === owner)) this.leave(queue, candidate);
    }
  }

  private leave(queue: Candidate[], candidate: Candidate): void {
    const at = queue.indexOf(candidate);
    if (at >= 0) queue.splice(at, 1);
    serve(queue);
  }
}

/** Undefined on the channel of presence. */
function messageOf(data: unknown): ChannelMessage | undefined {
  return (data as { readonly message?: ChannelMessage }).message;
}

function serve([first]: readonly Candidate[]): void {
  if (first !== undefined && !first.granted) first.grant();
}

class SimulatedPort implements BroadcastPort {
  onmessage: ((event: MessageEvent) => void) | null = null;
  readonly channelName: string;
  readonly owner: Owner;
  private readonly time: VirtualTime;
  private readonly wires: { post(data: unknown): void; close(): void };
  private lastDueMs = 0;

  constructor(
    channelName: string,
    owner: Owner,
    time: VirtualTime,
    wires: { post(data: unknown): void; close(): void },
  ) {
    this.channelName = channelName;
    this.owner = owner;
    this.time = time;
    this.wires = wires;
  }

  postMessage(message: unknown): void {
    if (this.owner.isAlive) this.wires.post(message);
  }

  deliver(data: unknown, delayMs: number): void {
    this.lastDueMs = Math.max(this.lastDueMs, this.time.nowMs + delayMs);
    this.time.after(this.lastDueMs - this.time.nowMs, () => {
      if (this.owner.isAlive) this.time.as(this.owner, () => this.onmessage?.({ data } as MessageEvent));
    });
  }

  close(): void {
    this.onmessage = null;
    this.wires.close();
  }
}
