/** The sign of the product. */
export function Mark() {
  return (
    <svg className="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" className="mark-ground" />
      <path d="M5 14q5.5-6 11 0t11 0M5 21q5.5-6 11 0t11 0" className="mark-waves" />
    </svg>
  );
}
