import type { ErrorData, StuckStage, SyncStatus } from '@rockpool/client';

import { locale as pageLocale } from '../shell/locale.ts';

export interface StatusWords {
  /** Two or three words, for the badge. */
  readonly label: string;
  /** One or two sentences: the meaning, and the next step. */
  readonly detail: string;
  readonly tone: 'good' | 'working' | 'waiting' | 'attention';
}

/**
 * The sync state in words. `isRemoved`: an owner removed this user from the budget. Local work continues in every
 * state; the text says so where a user might doubt it.
 */
export function statusWords(status: SyncStatus, isRemoved = false): StatusWords {
  const { state, pendingCount, rejectedCount, reason, waitingFor } = status;
  switch (state) {
    case 'opening':
      return { label: 'Opening', detail: 'Opening the budget on this device.', tone: 'working' };
    case 'paused':
      return {
        label: pendingCount === 0 ? 'Paused' : `Paused · ${inDigits(pendingCount)} to sync`,
        detail: 'Sync is paused in all tabs on this device. You can keep working; changes sync when you resume.',
        tone: 'waiting',
      };
    case 'offline':
      return {
        label: pendingCount === 0 ? 'Offline' : `Offline · ${inDigits(pendingCount)} to sync`,
        detail: `${offlineSentence(reason)} You can keep working. Changes are saved on this device and sync later.`,
        tone: 'waiting',
      };
    case 'connecting':
      return {
        label: pendingCount === 0 ? 'Connecting' : `Connecting · ${inDigits(pendingCount)} to sync`,
        detail: `${reason === null ? '' : `${offlineSentence(reason)} `}${waitSentence(waitingFor)}`,
        tone: 'working',
      };
    case 'pushing':
      return {
        label: `Sending ${inDigits(pendingCount)}`,
        detail: `${changes(pendingCount)} being sent to the server.`,
        tone: 'working',
      };
    case 'up-to-date':
      return {
        label: 'Up to date',
        detail: `This device and the server have the same data${rejectedCount === 0 ? '' : ', except for the rejected changes'}.`,
        tone: 'good',
      };
    case 'unavailable':
      return {
        label: pendingCount === 0 ? 'Server trouble' : `Server trouble · ${inDigits(pendingCount)} to sync`,
        detail: `${unavailableSentence(reason)} You can keep working. Changes are saved on this device and sync later.`,
        tone: 'waiting',
      };
    case 'needs-auth':
      return {
        label: pendingCount === 0 ? 'No access' : `No access · ${inDigits(pendingCount)} to sync`,
        detail: isRemoved
          ? 'You were removed from this budget, so it no longer syncs. Export your data to keep it.'
          : 'The server rejected this budget’s key. Open the budget by its share link again. Your work is saved on this device.',
        tone: 'attention',
      };
    case 'outdated':
      return {
        label: 'Reload this tab',
        detail: 'Another tab runs a newer version of this app. Reload this tab to continue; all saved work is safe.',
        tone: 'attention',
      };
    case 'blocked':
      return {
        label: pendingCount === 0 ? 'Sync stopped' : `Sync stopped · ${inDigits(pendingCount)} to sync`,
        detail: `${blockedSentence(reason)} Your work is saved on this device.`,
        tone: 'attention',
      };
  }
}

/** Why sync cannot continue by itself, and the remedy. The reason's code appears beside it for support. */
function blockedSentence(reason: ErrorData | null): string {
  switch (reason?.recovery) {
    case 'upgrade':
      return 'This app and its server run different versions. Reload the page. If that does not help, the server needs an update.';
    case 'free-space':
      return 'This device is out of space for data from the server. Free up some space, then press “Try now”.';
    case 'bug':
      if (reason.code === 'token-callback-failed')
        return 'This app could not request access because of an internal error. It retries automatically.';
      return 'The server sent data that this app does not understand. It retries in a minute, or press “Try now”.';
    default:
      if (reason?.code === 'auth-forbidden')
        return 'You can only view this budget now, but you have changes that did not sync. They sync if an owner lets you edit again.';
      if (reason?.code === 'quota-exceeded' && reason.fields['quota'] === 'sites')
        return 'The server accepts changes from no more devices and browsers of yours. Ask the server’s operator for a higher limit.';
      if (reason?.code === 'quota-exceeded')
        return 'The server has no room for more data. Take back large changes below, or ask the server’s operator for more room.';
      return `Sync needs your attention. ${reason?.message ?? ''}`.trim();
  }
}

/**
 * Why a user might take back changes that wait; null if that does not help. Each change that is taken back costs a site
 * id, so it does not help beyond the limit of sites.
 */
export function takeBackSentence(reason: ErrorData | null): string | null {
  if (reason?.code === 'auth-forbidden')
    return 'None of these can sync while you can only view. Take back those that you no longer want.';
  if (reason?.code !== 'quota-exceeded' || reason.fields['quota'] === 'sites') return null;
  return 'Changes sync in order, so one that the server refuses holds up the rest. Take it back to let the others sync. It then leaves the budget and moves to “Rejected changes”, where you can try it again.';
}

function offlineSentence(reason: ErrorData | null): string {
  if (reason === null || reason.code === 'network-unreachable') return unreachableSentence(reason?.fields['stage']);
  return reason.message;
}

/** The server responds but cannot serve this budget. */
function unavailableSentence(reason: ErrorData | null): string {
  switch (reason?.code) {
    case 'database-unavailable':
      if (reason.fields['problem'] === 'not registered')
        return 'The server does not know this budget yet. It appears once the device that created it has been online.';
      return 'The server cannot open this budget right now. The server log gives the reason.';
    case 'database-damaged':
      return 'The server’s copy of this budget is damaged. The server’s operator needs to restore it.';
    case 'server-disk-full':
      return 'The server’s disk is full. The server’s operator needs to free up space.';
    case 'rate-limited':
    case 'too-many-connections':
      return 'The server is busy right now.';
    default:
      return 'The server cannot serve this budget right now.';
  }
}

/** The current step while connecting, and during the first sync. */
function waitSentence(wait: SyncStatus['waitingFor']): string {
  switch (wait?.stage) {
    case 'welcome':
      return 'Checking for changes.';
    case 'snapshot-answer':
    case 'snapshot-build':
      return 'The server is preparing the budget for download.';
    case 'snapshot-download':
      return 'Downloading the budget.';
    case 'snapshot-store':
      return 'Saving the downloaded budget on this device.';
    case 'delivery':
      return 'Receiving changes.';
    default:
      return 'Connecting to the server.';
  }
}

/** `stage` is the step that timed out. */
function unreachableSentence(stage: unknown): string {
  switch (stage) {
    case 'welcome':
      return 'The server accepts the connection but does not respond.';
    case 'silence':
      return 'The server stopped responding.';
    case 'outcome':
    case 'delivery':
      return `${stuckWhat[stage]}.`;
    default:
      return 'The server is unreachable.';
  }
}

const stuckWhat: Readonly<Record<StuckStage['stage'], string>> = {
  delivery: 'The server responds but does not send changes',
  outcome: 'The server does not acknowledge your changes',
  apply: 'Changes from the server cannot be saved on this device',
  audit: 'Some rows here differ from the server’s',
};
const stuckNext: Readonly<Record<StuckStage['next'], string>> = {
  reconnect: 'reconnecting next',
  resend: 'sending them again next',
  reload: 'loading everything again next; unsent changes are kept',
  restart: 'restarting the background worker next',
};

/** The step that makes no progress, the number of attempts, and when the next one begins. */
export function stuckSentence({ stage, times, next }: StuckStage): string {
  return `${stuckWhat[stage]} (tried ${times} times); ${stuckNext[next]}.`;
}

/** "1 change", "3 changes". */
export function changes(count: number): string {
  return count === 1 ? '1 change' : `${inDigits(count)} changes`;
}

function inDigits(count: number): string {
  return count.toLocaleString(pageLocale);
}

/** A rough time since an event: "just now", "5 minutes ago". */
export function timeAgo(thenMs: number, nowMs: number, locale: string): string {
  const seconds = Math.max(0, Math.round((nowMs - thenMs) / 1_000));
  if (seconds < 45) return 'just now';
  const words = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  if (seconds < 3_600) return words.format(-Math.max(1, Math.round(seconds / 60)), 'minute');
  if (seconds < 86_400) return words.format(-Math.round(seconds / 3_600), 'hour');
  return words.format(-Math.round(seconds / 86_400), 'day');
}

/** A rough duration: "12 minutes", "5 hours", "365 days". At least a minute. */
export function timeSpan(spanMs: number, locale: string): string {
  const minutes = Math.max(1, Math.round(spanMs / 60_000));
  const [count, unit] =
    minutes < 120
      ? [minutes, 'minute']
      : minutes < 2_880
        ? [Math.round(minutes / 60), 'hour']
        : [Math.round(minutes / 1_440), 'day'];
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(count);
}
