import { useEffect, useRef, type ReactNode } from 'react';
import { useHeightVariable } from './use-height-variable.ts';
import './view-banner.css';

export interface ViewBannerProps {
  readonly kind: 'past' | 'what-if';
  /** Names what is shown, and the ways to leave it. */
  readonly children: ReactNode;
}

/** Says on every page that it does not show today's budget. Also tints the page. */
export function ViewBanner({ kind, children }: ViewBannerProps): ReactNode {
  const banner = useRef<HTMLDivElement>(null);
  useHeightVariable(banner, '--view-banner-height');
  useEffect(() => {
    document.documentElement.dataset['view'] = kind;
    return () => {
      delete document.documentElement.dataset['view'];
    };
  }, [kind]);
  return (
    <div ref={banner} className="view-banner" role="status" aria-label={kind === 'past' ? 'Past state' : 'What-if'}>
      {children}
    </div>
  );
}
