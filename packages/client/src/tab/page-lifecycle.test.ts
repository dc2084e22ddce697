import { expect, it } from 'vitest';
import { followPageLifecycle } from './page-lifecycle.ts';

it('followPageLifecycle reports away, back, online, offline and visible until it is stopped', () => {
  const window = new EventTarget();
  const document = Object.assign(new EventTarget(), { visibilityState: 'visible' });
  const told: string[] = [];
  const tell = (what: string) => (): void => void told.push(what);
  const stop = followPageLifecycle(
    { window, document },
    tell('away'),
    tell('back'),
    tell('online'),
    tell('offline'),
    tell('seen'),
  );
  const happens = (target: EventTarget, type: string, visibilityState = document.visibilityState): void => {
    document.visibilityState = visibilityState;
    target.dispatchEvent(new Event(type));
  };
  happens(document, 'visibilitychange', 'hidden');
  happens(document, 'freeze');
  happens(window, 'pagehide');
  happens(window, 'pageshow');
  happens(document, 'visibilitychange', 'visible');
  happens(window, 'online');
  happens(window, 'offline');
  expect(told).toEqual(['away', 'back', 'seen', 'online', 'offline']);
  stop();
  happens(document, 'visibilitychange');
  expect(told).toHaveLength(5);
});
