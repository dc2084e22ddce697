import { createContext, useContext, useSyncExternalStore } from 'react';
import { today } from '../shell/locale.ts';

/**
 * The state of the budget that the pages show: today's; a what-if, which is a branch; or a past state, at the end of a
 * day (`YYYY-MM-DD`) or after a version (`version-N`).
 */
export type View = 'today' | 'what-if' | PastView;
export type PastView = `${number}-${number}-${number}` | `version-${number}`;

export interface ShownView {
  readonly view: View;
  /** The day that counts as today, `YYYY-MM-DD`. For a past state, the day that is shown. */
  readonly day: string;
}

const ViewContext = createContext<ShownView | null>(null);

/** Tells the pages below which state they show. Without it, they show today's budget. */
export const ViewProvider = ViewContext.Provider;

export function useView(): View {
  return useContext(ViewContext)?.view ?? 'today';
}

/** The day that counts as today, `YYYY-MM-DD`. Renders again when a new day begins. */
export function useToday(): string {
  const shown = useContext(ViewContext);
  const day = useSyncExternalStore(onMinute, today, today);
  return shown?.day ?? day;
}

/** Timers stop while a device sleeps, so the listener is also called when the page is shown again. */
function onMinute(listener: () => void): () => void {
  const timer = setInterval(listener, 60_000);
  document.addEventListener('visibilitychange', listener);
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', listener);
  };
}

/** Whether the view shows a past state: it is read-only, and has no search index, notes or deleted entries. */
export function isPast(view: View): view is PastView {
  return view !== 'today' && view !== 'what-if';
}

/** The view that a text names; today's for any other text. */
export function readView(text: string): View {
  if (text === 'what-if') return text;
  return isDay(text) || /^version-[1-9]\d{0,15}$/.test(text) ? (text as PastView) : 'today';
}

function isDay(text: string): boolean {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}

/** The version that a past view shows; null if it shows a day. */
export function versionOf(view: PastView): number | null {
  return view.startsWith('version-') ? Number(view.slice('version-'.length)) : null;
}
