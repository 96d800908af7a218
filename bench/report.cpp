#include "report.hpp"

#include <boost/json.hpp>
#include <fstream>
#include <stdexcept>

namespace bench {

void write_json(const std::string& file, const std::vector<Row>& rows) {
  boost::json::array list;
  for (const Row& row : rows)
    list.push_back(boost::json::object{{"name", row.name},
                                       {"value", row.value},
                                       {"unit", row.unit},
                                       {"samples", row.samples},
                                       {"spread", row.spread}});
  std::ofstream out(file);
  out << boost::json::serialize(list) << '\n';
  if (!out.flush()) throw std::runtime_error("cannot write " + file);
}

}  // namespace bench
