import { useEffect, useState } from 'react';

/** The latest result of `read`, which runs again every `everyMs`. A failed read keeps the last result. */
export function usePolled<T>(read: () => Promise<T>, everyMs: number): T | null {
  const [value, setValue] = useState<T | null>(null);
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout>;
    const poll = async (): Promise<void> => {
      const next = await read().catch(() => null);
      if (isOver) return;
      if (next !== null) setValue(next);
      timer = setTimeout(() => void poll(), everyMs);
    };
    void poll();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [everyMs, read]);
  return value;
}
