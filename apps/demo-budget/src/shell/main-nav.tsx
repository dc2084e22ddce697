import { useEffect, useState, type ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import { useMayWrite } from '../budget/role.ts';
import { keyOf } from './keys.ts';
import { hashOf, showsPage, type Page, type Place } from './navigation.ts';

type Link = readonly [Page, string];

/** Also visible in a narrow window; all others are in the "More" menu there. */
const mainLinks: readonly Link[] = [
  ['accounts', 'Accounts'],
  ['envelopes', 'Budget'],
  ['reports', 'Reports'],
];

const moreLinks: readonly Link[] = [
  ['import', 'Import'],
  ['schedules', 'Scheduled'],
  ['notes', 'Notes'],
  ['categories', 'Categories'],
  ['rules', 'Payees'],
  ['look-back', 'Look back'],
  ['what-if', 'What if'],
  ['share', 'Share'],
  ['how', 'How this works'],
];

/** Viewers cannot import, but may export everything. */
const moreLinksToLook: readonly Link[] = moreLinks.map((link) => (link[0] === 'import' ? ['export', 'Export'] : link));

export interface MainNavProps {
  readonly budget: Budget;
  readonly place: Place;
  /** The menu page of a location. */
  readonly current: Page;
}

export function MainNav({ budget, place, current }: MainNavProps): ReactNode {
  const more = (useMayWrite() ? moreLinks : moreLinksToLook).filter(([page]) => showsPage(place.view, page));
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [place.page, place.accountId]);
  const linkTo = ([page, word]: Link): ReactNode => (
    <a
      key={page}
      href={hashOf(budget, { page, accountId: page === 'import' ? place.accountId : '' })}
      aria-current={current === page ? 'page' : undefined}
      onClick={() => setOpen(false)}
    >
      {word}
    </a>
  );
  return (
    <nav
      className="main-nav"
      aria-label="Pages"
      onKeyDown={(event) => {
        if (keyOf(event) === 'Escape') setOpen(false);
      }}
    >
      {mainLinks.map(linkTo)}
      <button
        type="button"
        className={more.some(([page]) => page === current) ? 'more-pages-button here' : 'more-pages-button'}
        aria-expanded={open}
        aria-controls="more-pages"
        onClick={() => setOpen(!open)}
      >
        More
      </button>
      <div id="more-pages" className={open ? 'more-pages open' : 'more-pages'}>
        {more.map(linkTo)}
      </div>
    </nav>
  );
}
