import { Link, useLocation } from 'wouter';

interface SectionsProps {
  label: string;
  /** The pages with their names. The address of the first is the beginning of the others. */
  places: readonly (readonly [path: string, name: string])[];
}

/** The way between pages that share a place in the navigation. */
export function Sections({ label, places }: SectionsProps) {
  const [location] = useLocation();
  const here = location.replace(/\/$/, '');
  return (
    <nav className="page sections" aria-label={label}>
      <ul>
        {places.map(([path, name], i) => (
          <li key={path}>
            <Link href={path} aria-current={(i === 0 ? here === path : here.startsWith(path)) ? 'page' : undefined}>
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
