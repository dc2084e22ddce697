import { isoDay, liveThrough, type Habit, type Standing } from './household.ts';
import { createRandom } from './random.ts';

const firstDay = '2025-01-01';
const dayCount = 181;

const standing: readonly Standing[] = [
  { payee: 'Hausverwaltung Dreilinden', text: 'Miete Wohnung 3. OG links', dayOfMonth: 1, amountMinor: -98_400 },
  { payee: 'Stadtwerke Nordhafen', text: 'Abschlag Strom Vertrag 70-4418', dayOfMonth: 3, amountMinor: -7_650 },
  { payee: 'Funknetz Quassel', text: 'Mobilfunk Rechnung', dayOfMonth: 9, amountMinor: -1_999 },
  { payee: 'Versicherung Rückenwind', text: 'Haftpflicht und Hausrat', dayOfMonth: 15, amountMinor: -3_412 },
  { payee: 'Verkehrsbetriebe Nordhafen', text: 'Monatskarte Zone A-B', dayOfMonth: 20, amountMinor: -5_800 },
  { payee: 'Werkstatt für Tüftelei GmbH', text: 'Lohn/Gehalt', dayOfMonth: 28, amountMinor: 291_733 },
];

const habits: readonly Habit[] = [
  {
    payee: 'Supermarkt Grünspan',
    texts: ['Kartenzahlung', 'Kartenzahlung Filiale Süd', 'Kartenzahlung; kontaktlos'],
    timesPer100Days: 46,
    fromMinor: 680,
    toMinor: 9_240,
  },
  { payee: 'Bäckerei Hollerblüh', texts: ['Kartenzahlung'], timesPer100Days: 55, fromMinor: 420, toMinor: 420 },
  { payee: 'Bäckerei Hollerblüh', texts: ['Brot und Brötchen'], timesPer100Days: 30, fromMinor: 310, toMinor: 1_150 },
  { payee: 'Drogerie Silberdistel', texts: ['Kartenzahlung'], timesPer100Days: 14, fromMinor: 390, toMinor: 4_200 },
  {
    payee: 'Gasthaus Zum Nebelhorn',
    texts: ['Abendessen', 'Mittagstisch'],
    timesPer100Days: 12,
    fromMinor: 1_490,
    toMinor: 7_800,
  },
  {
    payee: 'Buchhandlung Eselsohr',
    texts: ['Bücher', 'Geschenkgutschein'],
    timesPer100Days: 6,
    fromMinor: 990,
    toMinor: 4_600,
  },
  {
    payee: 'Apotheke am Mühlbach',
    texts: ['Rezeptgebühr', 'Kartenzahlung'],
    timesPer100Days: 5,
    fromMinor: 500,
    toMinor: 3_700,
  },
  { payee: 'Lichtspiele Knallgelb', texts: ['Kinokarten'], timesPer100Days: 5, fromMinor: 1_100, toMinor: 3_300 },
  {
    payee: 'Radhaus Speiche & Söhne',
    texts: ['Inspektion "groß"', 'Schlauch und Mantel'],
    timesPer100Days: 2,
    fromMinor: 1_250,
    toMinor: 13_900,
  },
  {
    payee: 'Jörg und Änne Förster',
    texts: ['Anteil Geschenk für Oma'],
    timesPer100Days: 2,
    fromMinor: 1_000,
    toMinor: 4_000,
  },
];

/**
 * A current account as a German bank might export it: Windows-1252, semicolons, decimal commas, six lines before the
 * table, newest first.
 */
export function meridianGiro(): string {
  const bookings = liveThrough(createRandom(20_250_101), firstDay, dayCount, habits, standing);
  let balanceMinor = 184_210;
  const lines = bookings.map((booking) => {
    balanceMinor += booking.amountMinor;
    const date = germanDate(isoDay(firstDay, booking.day));
    return [
      date,
      date,
      quoted(booking.payee),
      quoted(booking.text),
      germanAmount(booking.amountMinor),
      germanAmount(balanceMinor),
      'EUR',
    ].join(';');
  });
  const lastDay = isoDay(firstDay, dayCount - 1);
  const preamble = [
    'Meridian Bank eG;;;;;;',
    'Umsatzanzeige;;;;;;',
    'Kontonummer:;0000 4711 00;;;;;',
    'Kontoinhaber:;Änne Beispiel;;;;;',
    `Zeitraum:;${germanDate(firstDay)} - ${germanDate(lastDay)};;;;;`,
    `Kontostand:;${germanAmount(balanceMinor)} EUR;;;;;`,
    '',
  ];
  const header = 'Buchungstag;Wertstellung;Auftraggeber/Empfänger;Verwendungszweck;Betrag;Saldo;Währung';
  return [...preamble, header, ...lines.toReversed(), ''].join('\r\n');
}

function germanDate(iso: string): string {
  return `${iso.slice(8)}.${iso.slice(5, 7)}.${iso.slice(0, 4)}`;
}

function germanAmount(amountMinor: number): string {
  const digits = String(Math.abs(amountMinor)).padStart(3, '0');
  const whole = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, '.');
  return `${amountMinor < 0 ? '-' : ''}${whole},${digits.slice(-2)}`;
}

function quoted(text: string): string {
  return /[;"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
