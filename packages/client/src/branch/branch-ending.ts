import { RockpoolError, toRockpoolError } from '@rockpool/shared';
import type { Client } from '../client.ts';
import type { BranchStart } from '../rpc/branch-file.ts';
import type { EndOfBranch } from './guarded-calls.ts';

/** How long to wait for other tabs to close an ended branch: longer than `Client.close` takes (CLOSE_DEADLINE_MS). */
const CLOSED_WITHIN_MS = 15_000;
const LOOK_AGAIN_MS = 200;

export interface BranchEndingParts {
  readonly branch: string;
  readonly start: BranchStart;
  /** The branch's own database. */
  readonly client: Client;
  /** Rejects with `storage-busy` while a tab has the branch open. */
  readonly deleteFile: () => Promise<void>;
  readonly onProblem: (error: RockpoolError) => void;
}

/** The message that a tab sends after it has closed an ended branch. */
const CLOSED = 'closed';

/** Ends a branch in every tab that has it open. */
export class BranchEnding {
  ended: EndOfBranch | null = null;
  private readonly parts: BranchEndingParts;
  private readonly channel: BroadcastChannel;
  private onClosed: () => void = () => undefined;
  private isClosed = false;

  constructor(parts: BranchEndingParts) {
    this.parts = parts;
    this.channel = new BroadcastChannel(parts.start.id);
    (this.channel as { unref?(): void }).unref?.(); // An open channel would keep a Node process alive.
    this.channel.onmessage = ({ data }: MessageEvent<EndOfBranch | typeof CLOSED>) => {
      if (data === CLOSED) this.onClosed();
      else if (this.ended === null) void this.follow(data);
    };
  }

  requireOpen(): void {
    if (this.ended !== null) throw new RockpoolError('branch-ended', { branch: this.parts.branch, by: this.ended });
    if (this.isClosed) throw new RockpoolError('client-closed');
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.channel.close();
    await this.parts.client.close();
  }

  /**
   * Closes the branch in every tab and deletes its file. Rejects with `storage-busy` if a tab does not close it in
   * time.
   */
  async end(by: EndOfBranch): Promise<void> {
    const { client, deleteFile } = this.parts;
    this.ended = by;
    this.post(by);
    try {
      await client.close();
      for (const deadlineMs = performance.now() + CLOSED_WITHIN_MS; ;) {
        try {
          return await deleteFile();
        } catch (thrown) {
          const isBusy = thrown instanceof RockpoolError && thrown.code === 'storage-busy';
          if (!isBusy || performance.now() >= deadlineMs) throw thrown;
        }
        await this.anotherClosed();
      }
    } finally {
      this.channel.close();
    }
  }

  /** Closes the branch in this tab after another tab has ended it. */
  private async follow(by: EndOfBranch): Promise<void> {
    this.ended = by;
    try {
      await this.parts.client.close();
    } catch (thrown) {
      this.parts.onProblem(toRockpoolError(thrown));
    }
    this.post(CLOSED);
    this.channel.close();
  }

  /** The app may close the branch at any time. */
  private post(message: EndOfBranch | typeof CLOSED): void {
    if (!this.isClosed) this.channel.postMessage(message);
  }

  /**
   * Waits until another tab reports that it has closed the branch. Stops waiting after a while, because a tab that is
   * closed before it receives the message reports nothing.
   */
  private anotherClosed(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, LOOK_AGAIN_MS);
      this.onClosed = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
