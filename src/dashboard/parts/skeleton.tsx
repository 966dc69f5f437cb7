/** Grey lines in the place of text that is being loaded. */
export function Lines({ count = 3 }: { count?: number }) {
  return (
    <div className="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: count }, (_, i) => (
        <span key={i} />
      ))}
    </div>
  );
}

/** A page that is being loaded. */
export function PageSkeleton() {
  return (
    <div className="page">
      <div className="skeleton-head" />
      <Lines count={8} />
    </div>
  );
}
