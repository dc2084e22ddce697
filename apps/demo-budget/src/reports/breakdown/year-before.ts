/** The same day a year before, as `YYYY-MM-DD`; 28 February for the 29th. Empty for an empty field. */
export function yearBefore(day: string): string {
  if (day === '') return '';
  const year = String(Number(day.slice(0, 4)) - 1).padStart(4, '0');
  return day.endsWith('-02-29') ? `${year}-02-28` : `${year}${day.slice(4)}`;
}
