/** Limits a request to a server. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Begins again with this time. */
  renew(withinMs: number): void;
  /** Ends it without an abort. */
  clear(): void;
}

/** Aborts after this time, and when the client closes: a request would keep a Node process alive. */
export function deadlineOf(withinMs: number, closed: AbortSignal): Deadline {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const renew = (ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(abort, ms);
  };
  renew(withinMs);
  closed.addEventListener('abort', abort);
  if (closed.aborted) abort();
  return {
    signal: controller.signal,
    renew,
    clear() {
      clearTimeout(timer);
      closed.removeEventListener('abort', abort);
    },
  };
}
