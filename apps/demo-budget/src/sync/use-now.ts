import { useEffect, useState } from 'react';

/** The wall time in ms, updated while the component is mounted, for texts such as "5 minutes ago". */
export function useNow(everyMs: number): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return nowMs;
}
