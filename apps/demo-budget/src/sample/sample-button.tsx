import { useState, type ReactNode } from 'react';
import { useTask } from '../shell/failure.tsx';
import { hashOf } from '../shell/navigation.ts';
import { openSample } from './open-sample.ts';

/** Opens a sample budget, for users who want to try the app first. */
export function SampleButton(): ReactNode {
  const run = useTask();
  const [opening, setOpening] = useState(false);
  const open = (): void => {
    setOpening(true);
    run(async () => {
      try {
        location.hash = hashOf(await openSample());
      } finally {
        setOpening(false);
      }
    });
  };
  return (
    <button type="button" disabled={opening} onClick={open}>
      {opening ? 'Creating the sample …' : 'Explore a sample budget'}
    </button>
  );
}
