import type { BenchPage } from '../page/bench-page.ts';

/** A running browser of any kind. */
export interface BenchBrowser {
  /** Opens the benchmark page at this address. */
  openTab(url: string): Promise<BenchTab>;
  close(): Promise<void>;
}

type Asynchronous<T> = {
  readonly [K in keyof T]: T[K] extends (...args: infer A) => Promise<infer R> ? (...args: A) => Promise<R> : never;
};

/** One page, with its functions callable from the runner. */
export interface BenchTab {
  readonly bench: Asynchronous<BenchPage>;
  close(): Promise<void>;
}

/** A single call that takes longer is broken or too slow to include. */
const CALL_TIMEOUT_MS = 120_000;

export function benchTab(
  call: (name: string, args: readonly unknown[]) => Promise<unknown>,
  close: () => Promise<unknown>,
): BenchTab {
  const bench = new Proxy({} as BenchTab['bench'], {
    get:
      (_target, name: string) =>
      (...args: readonly unknown[]) =>
        within(CALL_TIMEOUT_MS, name, call(name, args)),
  });
  return { bench, close: async () => void (await close()) };
}

async function within<T>(timeoutMs: number, what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${timeoutMs / 1000} s`)), timeoutMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
