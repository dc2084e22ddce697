import type { ErrorData, StuckStage, SyncStatus } from '@rockpool/client';

export interface StatusWords {
  /** Two or three words, for the badge. */
  readonly label: string;
  /** One or two sentences: what this means and what is being tried. */
  readonly detail: string;
  readonly tone: 'good' | 'working' | 'waiting' | 'attention';
}

/**
 * Where sync stands, in words. Local work goes on in every state, and the words say so where someone might doubt it.
 */
export function statusWords(status: SyncStatus): StatusWords {
  const { state, pendingCount, reason, waitingFor } = status;
  switch (state) {
    case 'opening':
      return { label: 'Opening', detail: 'The budget on this device is being opened.', tone: 'working' };
    case 'paused':
      return {
        label: pendingCount === 0 ? 'Paused' : `Paused · ${pendingCount} to send`,
        detail:
          'Sync is paused in all tabs of this device. Everything works and is kept on this device; nothing is sent or fetched until you resume.',
        tone: 'waiting',
      };
    case 'offline':
      return {
        label: pendingCount === 0 ? 'Offline' : `Offline · ${pendingCount} to send`,
        detail: `${offlineSentence(reason)} Everything works, is kept on this device, and will be sent later.`,
        tone: 'waiting',
      };
    case 'connecting':
      return {
        label: pendingCount === 0 ? 'Connecting' : `Connecting · ${pendingCount} to send`,
        detail: `${reason === null ? '' : `${offlineSentence(reason)} `}${waitSentence(waitingFor)}`,
        tone: 'working',
      };
    case 'pushing':
      return {
        label: `Sending ${pendingCount}`,
        detail: `${changes(pendingCount)} on the way to the server.`,
        tone: 'working',
      };
    case 'up-to-date':
      return {
        label: 'Up to date',
        detail: 'The server has all changes of this device, and this device all of the others’.',
        tone: 'good',
      };
    case 'unavailable':
      return {
        label: pendingCount === 0 ? 'Server trouble' : `Server trouble · ${pendingCount} to send`,
        detail: `${unavailableSentence(reason)} Everything works, is kept on this device, and will be sent later.`,
        tone: 'waiting',
      };
    case 'needs-auth':
      return {
        label: pendingCount === 0 ? 'No access' : `No access · ${pendingCount} to send`,
        detail:
          'The server does not accept this budget’s key. Open the budget by its share link again. Your work is kept on this device.',
        tone: 'attention',
      };
    case 'outdated':
      return {
        label: 'Reload this tab',
        detail:
          'Another tab runs a newer version of this app. Reload this tab to go on; nothing that it has saved is lost.',
        tone: 'attention',
      };
    case 'blocked':
      return {
        label: pendingCount === 0 ? 'Sync stopped' : `Sync stopped · ${pendingCount} to send`,
        detail: `${blockedSentence(reason)} Your work is kept on this device.`,
        tone: 'attention',
      };
  }
}

/**
 * Why sync cannot go on by itself, and what helps. The code of the reason stands beside it, for whoever is asked for
 * help.
 */
function blockedSentence(reason: ErrorData | null): string {
  switch (reason?.recovery) {
    case 'upgrade':
      return 'This app and its server are of different versions. Reload the page; if that does not help, the server has to be updated.';
    case 'free-space':
      return 'There is no room left on this device for what the server has. Delete files or apps that you do not need, then press “Try now”.';
    case 'bug':
      if (reason.code === 'token-callback-failed')
        return 'This app could not ask the server for access, through a fault of its own. It tries again by itself.';
      return 'The server sent something that this app does not understand. It is asked again by itself in a minute, or at once with “Try now”.';
    default:
      return reason?.code === 'auth-forbidden'
        ? 'You may only look at this budget now, and have changed it before you knew. An owner can let you change it again; then it is sent.'
        : `Sync cannot go on by itself. ${reason?.message ?? ''}`.trim();
  }
}

function offlineSentence(reason: ErrorData | null): string {
  if (reason === null || reason.code === 'network-unreachable') return unreachableSentence(reason?.fields['stage']);
  return reason.message;
}

/** The server answers, but cannot serve this budget. */
function unavailableSentence(reason: ErrorData | null): string {
  switch (reason?.code) {
    case 'database-unavailable':
      if (reason.fields['problem'] === 'not registered')
        return 'The server does not know this budget yet: it will, once the device that made it has been online.';
      return 'The server cannot open this budget now. Whoever runs the server finds the reason in its log.';
    case 'database-damaged':
      return 'The server’s copy of this budget is damaged. Whoever runs the server has to restore it.';
    case 'server-disk-full':
      return 'The server’s disk is full. Whoever runs the server has to make room.';
    case 'rate-limited':
    case 'too-many-connections':
      return 'The server has too much to do now.';
    default:
      return 'The server cannot serve this budget now.';
  }
}

/** What is awaited while a connection is being made, and while everything comes for the first time. */
function waitSentence(wait: SyncStatus['waitingFor']): string {
  switch (wait?.stage) {
    case 'welcome':
      return 'The server is asked what is new.';
    case 'snapshot-answer':
    case 'snapshot-build':
      return 'The server is preparing the budget for download.';
    case 'snapshot-download':
      return 'The budget is being downloaded.';
    case 'snapshot-store':
      return 'The downloaded budget is being stored on this device.';
    case 'delivery':
      return 'The server is sending what is new.';
    default:
      return 'A connection to the server is being made.';
  }
}

/** `stage`: what had not come when the patience ended. */
function unreachableSentence(stage: unknown): string {
  switch (stage) {
    case 'welcome':
      return 'The server takes the connection and does not answer.';
    case 'silence':
      return 'The server has stopped answering.';
    case 'outcome':
    case 'delivery':
      return `${stuckWhat[stage]}.`;
    default:
      return 'The server cannot be reached.';
  }
}

const stuckWhat: Readonly<Record<StuckStage['stage'], string>> = {
  delivery: 'The server answers, but does not send what it has',
  outcome: 'The server does not say what became of your changes',
  apply: 'What the server sent cannot be written on this device',
  audit: 'Some rows here differ from the server’s',
};
const stuckNext: Readonly<Record<StuckStage['next'], string>> = {
  reconnect: 'a new connection is tried next',
  resend: 'they are sent once more next',
  reload: 'everything is loaded anew next; what waits to be sent stays',
  restart: 'the background worker is started anew next',
};

/** What does not get on, how often it was tried, and what is tried next. */
export function stuckSentence({ stage, times, next }: StuckStage): string {
  return `${stuckWhat[stage]} (tried ${times} times); ${stuckNext[next]}.`;
}

/** "1 change", "3 changes". */
export function changes(count: number): string {
  return count === 1 ? '1 change' : `${count} changes`;
}

/** How long ago something was, roughly: "just now", "5 minutes ago". */
export function timeAgo(thenMs: number, nowMs: number, locale: string): string {
  const seconds = Math.max(0, Math.round((nowMs - thenMs) / 1_000));
  if (seconds < 45) return 'just now';
  const words = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  if (seconds < 3_600) return words.format(-Math.max(1, Math.round(seconds / 60)), 'minute');
  if (seconds < 86_400) return words.format(-Math.round(seconds / 3_600), 'hour');
  return words.format(-Math.round(seconds / 86_400), 'day');
}

/** A span of time, roughly: "12 minutes", "5 hours", "365 days". At least a minute. */
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
