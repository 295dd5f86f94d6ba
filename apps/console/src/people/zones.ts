/**
 * Time zones grouped by part of the world, as browsers know them. The current zone is included even if this browser
 * does not know it.
 */
export const zonesByPlace = (
  known: readonly string[],
  current: string,
): readonly (readonly [place: string, zones: readonly string[]])[] => {
  const all = [...new Set([...known, 'UTC', current])].sort();
  const places = new Map<string, string[]>();
  for (const zone of all) {
    const place = zone.includes('/') ? zone.slice(0, zone.indexOf('/')) : 'Other';
    places.set(place, [...(places.get(place) ?? []), zone]);
  }
  return [...places].sort(([one], [other]) =>
    one === 'Other' ? 1 : other === 'Other' ? -1 : one.localeCompare(other),
  );
};

/** `Buenos Aires, Argentina` for `America/Argentina/Buenos_Aires` */
export const placeName = (zone: string): string =>
  zone
    .split('/')
    .slice(zone.includes('/') ? 1 : 0)
    .reverse()
    .join(', ')
    .replaceAll('_', ' ');
