import { changesetHash, type Push } from '@rockpool/shared';
import { nativeSha256 } from '../log/sha256.ts';
import { changesetName } from './admission-rules.ts';
import type { WaitingPush } from './admit-pushes.ts';

/**
 * A changeset is rejected after this many failed commits that contained no other changeset. These attempts are only
 * seconds apart, because a device soon resends the changeset.
 */
const MAX_ATTEMPTS = 3;

/** Limits the memory for failed changesets. The oldest are removed first, and their count then restarts. */
const MAX_REMEMBERED = 1_000;

/**
 * The changesets whose commit failed because of their content. Without a limit, a device would resend such a changeset
 * forever, and all its later changesets would wait.
 */
export class FailedChangesets {
  private readonly attempts = new Map<string, number>();
  /** The changesets to reject, with the number of attempts. */
  readonly toReject: Map<string, number> = new Map();

  /** Counts a failed commit of one changeset. Returns whether to reject it from now on. */
  failed(site: string, sequence: number): boolean {
    const name = changesetName(site, sequence);
    const count = (this.attempts.get(name) ?? 0) + 1;
    this.attempts.delete(name);
    this.attempts.set(name, count);
    const [oldest] = this.attempts.keys();
    if (oldest !== undefined && this.attempts.size > MAX_REMEMBERED) this.attempts.delete(oldest);
    if (count < MAX_ATTEMPTS) return false;
    this.attempts.delete(name);
    this.toReject.set(name, count);
    return true;
  }

  /** Removes a changeset whose outcome is stored. */
  settled(site: string, sequence: number): void {
    this.toReject.delete(changesetName(site, sequence));
  }
}

/** Returns a push of several changesets as pushes of one changeset each. */
export function splitPush(waiting: WaitingPush): WaitingPush[] {
  let { previousHash } = waiting.push;
  return waiting.push.changesets.map((changeset): WaitingPush => {
    const push: Push = { ...waiting.push, previousHash, changesets: [changeset] };
    previousHash = changesetHash(previousHash, changeset, nativeSha256);
    return { ...waiting, push };
  });
}
